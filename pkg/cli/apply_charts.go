package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"open-cluster-management.io/fleet-addon/pkg/source"
)

// chartFlags say how charts from elsewhere are fetched.
type chartFlags struct {
	username, passwordFile string
	caCertsFile, keyFile   string
	urlRegex, byPathFile   string
	basicHTTP, insecure    bool
}

func (c *chartFlags) add(f *pflag.FlagSet) {
	f.StringVar(&c.username, "username", "", "user at chart repositories and registries that --helm-repo-url-regex matches (default $HELM_USERNAME)")
	f.StringVar(&c.passwordFile, "password-file", "", "file with the password of --username; a line break at its end is left out")
	f.StringVar(&c.caCertsFile, "cacerts-file", "", "file with certificates in PEM that chart repositories and registries are trusted by too")
	f.StringVar(&c.keyFile, "ssh-privatekey-file", "", "file with the private key for charts from git over SSH")
	f.StringVar(&c.urlRegex, "helm-repo-url-regex", "", "credentials go only to URLs that this regular expression matches from their beginning; without it they go nowhere")
	f.StringVar(&c.byPathFile, "helm-credentials-by-path-file", "", "file with credentials for each PATH, which go before those of the other flags")
	f.BoolVar(&c.basicHTTP, "helm-basic-http", false, "talk HTTP without TLS to registries")
	f.BoolVar(&c.insecure, "helm-insecure-skip-tls", false, "take any certificate of chart repositories and registries")
}

// options reads the files that the flags name.
func (c *chartFlags) options() (source.ChartOptions, error) {
	out := source.ChartOptions{URLRegex: c.urlRegex}
	creds := &out.Credentials
	creds.BasicHTTP, creds.InsecureSkipTLSVerify = c.basicHTTP, c.insecure
	creds.KnownHosts = []byte(os.Getenv(envKnownHosts))
	if (c.username == "") != (c.passwordFile == "") {
		return out, errors.New("--username and --password-file: one needs the other")
	}
	password, err := fileOf("password-file", c.passwordFile)
	if err != nil {
		return out, err
	}
	creds.Username = c.username
	creds.Password = strings.TrimRight(string(password), "\r\n")
	if creds.CABundle, err = fileOf("cacerts-file", c.caCertsFile); err != nil {
		return out, err
	}
	if creds.SSHPrivateKey, err = fileOf("ssh-privatekey-file", c.keyFile); err != nil {
		return out, err
	}
	data, err := fileOf("helm-credentials-by-path-file", c.byPathFile)
	if err != nil || data == nil {
		return out, err
	}
	if out.ByPath, err = source.ReadCredentials(data); err != nil {
		return out, fmt.Errorf("--helm-credentials-by-path-file %s: %w", c.byPathFile, err)
	}
	return out, nil
}

// fileOf reads the file of a flag; nil if the flag is not given.
func fileOf(flag, name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	return data, nil
}
