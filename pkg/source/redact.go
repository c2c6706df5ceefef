package source

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
)

// redact is a URL without what can be secret: who, and what is behind the question mark.
func redact(u *url.URL) string {
	clean := *u
	clean.User, clean.RawQuery, clean.ForceQuery, clean.Fragment, clean.RawFragment = nil, "", false, "", ""
	if u.Scheme == "ssh" && u.User != nil {
		// The user of SSH is part of the address, and no secret.
		clean.User = url.User(u.User.Username())
	}
	return clean.String()
}

var secretText = regexp.MustCompile(`//[^/?#@\s]*@|[?#].*$`)

// redactText does the same to what is no URL.
func redactText(s string) string { return secretText.ReplaceAllStringFunc(s, hide) }

func hide(found string) string {
	if found[0] == '/' {
		return "//"
	}
	return ""
}

// parseURL is url.Parse with an error that does not quote the URL as it is.
func parseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, fmt.Errorf("%q is no URL: %w", redactText(s), bare(err))
	}
	if u.Scheme != "" && u.Host == "" {
		return nil, fmt.Errorf("%q is no URL: it has no host", redactText(s))
	}
	return u, nil
}

// bare takes the URL out of an error, which may have a password in it.
func bare(err error) error {
	for {
		var with *url.Error
		if !errors.As(err, &with) {
			return err
		}
		err = with.Err
	}
}
