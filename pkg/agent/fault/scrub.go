package fault

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	mask = "***"
	// shortest value that is masked; below, nothing can be told apart from prose.
	shortestValue = 3
	// below this length a value is masked only where it stands alone, so that the
	// value "app" does not take the sense out of "application".
	longValue = 8
)

// Scrubber returns a function that masks the scalar Helm values in a text, also
// where they stand quoted or in base64, as in a rendered Secret. keep are words that are
// known anyway, such as the release's name, and stay readable.
func Scrubber(values map[string]any, keep ...string) func(string) string {
	known := map[string]bool{"true": true, "false": true, "null": true}
	for _, k := range keep {
		known[k] = true
	}
	found := map[string]bool{}
	collect(values, func(s string) {
		for _, line := range append(strings.Split(s, "\n"), s) {
			line = strings.TrimSpace(line)
			if len(line) < shortestValue || known[line] {
				continue
			}
			for _, form := range forms(line) {
				found[form] = true
			}
		}
	})
	secrets := make([]string, 0, len(found))
	for s := range found {
		secrets = append(secrets, s)
	}
	// Longest first: a value may hold another one.
	sort.Slice(secrets, func(i, j int) bool {
		if len(secrets[i]) != len(secrets[j]) {
			return len(secrets[i]) > len(secrets[j])
		}
		return secrets[i] < secrets[j]
	})
	return func(text string) string {
		for _, s := range secrets {
			text = replace(text, s)
		}
		return text
	}
}

// forms are the ways in which a value stands in messages: as it is, as Go and as
// JSON quote it, and in base64.
func forms(value string) []string {
	out := []string{value, base64.StdEncoding.EncodeToString([]byte(value)), unquoted(strconv.Quote(value))}
	if text, err := json.Marshal(value); err == nil {
		out = append(out, unquoted(string(text)))
	}
	return out
}

func unquoted(text string) string { return text[1 : len(text)-1] }

func collect(v any, visit func(string)) {
	switch t := v.(type) {
	case map[string]any:
		for _, e := range t {
			collect(e, visit)
		}
	case []any:
		for _, e := range t {
			collect(e, visit)
		}
	case nil, bool:
	default:
		visit(fmt.Sprint(t))
	}
}

func replace(text, secret string) string {
	if len(secret) >= longValue {
		return strings.ReplaceAll(text, secret, mask)
	}
	var out strings.Builder
	for {
		i := strings.Index(text, secret)
		if i < 0 {
			out.WriteString(text)
			return out.String()
		}
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(secret):])
		out.WriteString(text[:i])
		if part(before) || part(after) {
			out.WriteString(secret)
		} else {
			out.WriteString(mask)
		}
		text = text[i+len(secret):]
	}
}

func part(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// Cut shortens a message to at most limit bytes, at the edge of a character. What is
// no UTF-8 is replaced, as JSON would do: a status has to be read back as it was
// written.
func Cut(message string, limit int) string {
	const more = "..."
	message = strings.ToValidUTF8(message, string(utf8.RuneError))
	if len(message) <= limit {
		return message
	}
	end := limit - len(more)
	for end > 0 && !utf8.RuneStart(message[end]) {
		end--
	}
	return message[:end] + more
}
