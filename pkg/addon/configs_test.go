package addon

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestConfigsGiveAClusterWhatItsHashStandsFor(t *testing.T) {
	old, edited := newConfig(variables("logLevel", "info")), newConfig(variables("logLevel", "debug"))
	configs := newConfigs()
	configs.OnAdd(old, true)
	configs.OnUpdate(old, edited)

	dev, prod := newAddon(), newAddon()
	follow(t, dev, edited)
	follow(t, prod, old)

	for name, tc := range map[string]struct {
		want  string
		addon func() (string, error)
	}{
		"the cluster whose turn it is": {want: "debug", addon: func() (string, error) { return logLevelOf(configs, dev) }},
		"the one that still waits":     {want: "info", addon: func() (string, error) { return logLevelOf(configs, prod) }},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.addon()
			if err != nil || got != tc.want {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
		})
	}

	t.Run("also when the config was deleted", func(t *testing.T) {
		configs.OnDelete(edited)
		if got, err := logLevelOf(configs, dev); err != nil || got != "debug" {
			t.Errorf("got %q, %v", got, err)
		}
	})
	t.Run("and a return to the old content is no new one", func(t *testing.T) {
		configs.OnUpdate(edited, old)
		if got := len(configs.revisions); got != 1 {
			t.Errorf("%d configs, want 1", got)
		}
		for _, revisions := range configs.revisions {
			if len(revisions) != 2 {
				t.Errorf("%d revisions, want 2", len(revisions))
			}
		}
	})
}

func TestConfigsHoldWhatTheyCannotTell(t *testing.T) {
	seen, unseen := newConfig(variables("logLevel", "info")), newConfig(variables("logLevel", "warn"))
	configs := newConfigs()
	configs.OnAdd(seen, true)

	t.Run("an unknown hash", func(t *testing.T) {
		addon := newAddon()
		follow(t, addon, unseen)
		if _, err := configs.inForce(addon); !errors.Is(err, errConfigPending) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no hash", func(t *testing.T) {
		addon := newAddon()
		follow(t, addon, seen)
		addon.Status.ConfigReferences[0].DesiredConfig.SpecHash = ""
		if _, err := configs.inForce(addon); !errors.Is(err, errConfigPending) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no config at all is none", func(t *testing.T) {
		if config, err := configs.inForce(newAddon()); config != nil || err != nil {
			t.Errorf("got %v, %v", config, err)
		}
	})
	t.Run("the namespace stays", func(t *testing.T) {
		addon := newAddon()
		follow(t, addon, unseen)
		addon.Status.Namespace = "agents"
		if got, err := configs.installNamespace(context.Background(), addon); got != "agents" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestConfigsAreBounded(t *testing.T) {
	configs := newConfigs()
	for i := range 3 * keptRevisions {
		configs.OnAdd(newConfig(variables("x", fmt.Sprint(i))), false)
	}
	for _, revisions := range configs.revisions {
		if len(revisions) != keptRevisions {
			t.Errorf("%d revisions kept, want %d", len(revisions), keptRevisions)
		}
	}
}
