package diff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/fleet-addon/pkg/manifest"
)

func sideOf(t *testing.T, text string) Side {
	t.Helper()
	objects, err := manifest.Documents([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return Side{Namespace: "web", Objects: objects}
}

const (
	mapOne    = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: one, z: same}\n"
	mapTwo    = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: two, z: same}\n"
	role      = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\n"
	secretOne = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {stays: hunter1, turns: hunter2, goes: hunter3}\n"
	secretTwo = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {stays: hunter1, turns: hunter4, comes: hunter5}\n"
	applied   = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, annotations: {kubectl.kubernetes.io/last-applied-configuration: hunter2}}\ndata: hunter9\n"
)

func TestCompare(t *testing.T) {
	for name, tc := range map[string]struct{ before, after, want string }{
		"nothing":                           {before: mapOne + "---\n" + role, after: role + "---\n" + mapOne},
		"written in other ways":             {before: mapOne, after: `{"kind":"ConfigMap","data":{"z":"same","x":"one"},"metadata":{"name":"a"},"apiVersion":"v1"}`},
		"a namespace that is the release's": {before: mapOne, after: strings.Replace(mapOne, "{name: a}", "{name: a, namespace: web}", 1)},
		"a field": {before: mapOne, after: mapTwo, want: `changed v1 ConfigMap web/a
--- ConfigMap web/a
+++ ConfigMap web/a
@@ -1,6 +1,6 @@
 apiVersion: v1
 data:
-  x: one
+  x: two
   z: same
 kind: ConfigMap
 metadata:
`},
		"an object more": {after: role, want: `added rbac.authorization.k8s.io/v1 ClusterRole r
--- /dev/null
+++ ClusterRole r
@@ -0,0 +1,4 @@
+apiVersion: rbac.authorization.k8s.io/v1
+kind: ClusterRole
+metadata:
+  name: r
`},
		"another name": {before: mapOne, after: strings.Replace(mapOne, "name: a", "name: b", 1), want: `removed v1 ConfigMap web/a
--- ConfigMap web/a
+++ /dev/null
@@ -1,8 +0,0 @@
-apiVersion: v1
-data:
-  x: one
-  z: same
-kind: ConfigMap
-metadata:
-  name: a
-  namespace: web
added v1 ConfigMap web/b
--- /dev/null
+++ ConfigMap web/b
@@ -0,0 +1,8 @@
+apiVersion: v1
+data:
+  x: one
+  z: same
+kind: ConfigMap
+metadata:
+  name: b
+  namespace: web
`},
		"another version of the API is the same object": {before: role, after: strings.Replace(role, "/v1", "/v1beta1", 1), want: `changed rbac.authorization.k8s.io/v1beta1 ClusterRole r
--- ClusterRole r
+++ ClusterRole r
@@ -1,4 +1,4 @@
-apiVersion: rbac.authorization.k8s.io/v1
+apiVersion: rbac.authorization.k8s.io/v1beta1
 kind: ClusterRole
 metadata:
   name: r
`},
		"keys of a Secret": {before: secretOne, after: secretTwo, want: `changed v1 Secret web/s
--- Secret web/s
+++ Secret web/s
@@ -4,6 +4,6 @@
   name: s
   namespace: web
 stringData:
-  goes: (hidden)
+  comes: (hidden)
   stays: (hidden)
-  turns: (hidden, as it was)
+  turns: (hidden, changed)
`},
		"a Secret that is the same": {before: secretOne, after: secretOne},
		"a Secret with secrets in wrong places": {after: applied, want: `added v1 Secret web/s
--- /dev/null
+++ Secret web/s
@@ -0,0 +1,9 @@
+apiVersion: v1
+data:
+  '?': (hidden)
+kind: Secret
+metadata:
+  annotations:
+    kubectl.kubernetes.io/last-applied-configuration: (hidden)
+  name: s
+  namespace: web
`},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := sideOf(t, tc.before), sideOf(t, tc.after)
			changes, err := Compare(before, after)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, c := range changes {
				got.WriteString(string(c.Verb) + " " + c.APIVersion + " " + key{kind: c.Kind, namespace: c.Namespace, name: c.Name}.String() + "\n" + c.Diff)
			}
			if diff := cmp.Diff(tc.want, got.String()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if strings.Contains(got.String(), "hunter") {
				t.Errorf("a secret is shown:\n%s", got.String())
			}
			if diff := cmp.Diff(sideOf(t, tc.before).Objects, before.Objects); diff != "" {
				t.Errorf("the objects were changed:\n%s", diff)
			}
		})
	}
	t.Run("one object twice, as hooks make it", func(t *testing.T) {
		changes, err := Compare(sideOf(t, mapOne+"---\n"+mapOne), sideOf(t, mapOne+"---\n"+mapTwo))
		if err != nil || len(changes) != 1 || changes[0].Verb != Changed {
			t.Errorf("got %v, %v", changes, err)
		}
	})
}

func TestGroups(t *testing.T) {
	change := []Change{{Verb: Changed, Kind: "ConfigMap", Name: "a", Diff: "-1\n+2\n"}}
	groups, err := Groups([]Cluster{
		{Name: "same-2"}, {Name: "dev", Changes: []Change{{Verb: Added, Kind: "ConfigMap", Name: "a"}}}, {Name: "prod-2", Changes: change},
		{Name: "odd", Error: "no"}, {Name: "same-1"}, {Name: "prod-1", Changes: change}, {Name: "same-3"},
		{Name: "moved", From: "a/x", To: "b/x"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range groups {
		got = append(got, strings.Join(g.Clusters, " "))
	}
	if diff := cmp.Diff([]string{"prod-1 prod-2", "dev", "moved", "odd", "same-1 same-2 same-3"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for i, want := range []bool{true, true, true, false, false} {
		if groups[i].Differs() != want {
			t.Errorf("group %d differs: %v", i, !want)
		}
	}
}
