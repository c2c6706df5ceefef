package template

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func context() map[string]any {
	return map[string]any{
		"ClusterName":   "prod1",
		"ClusterLabels": map[string]any{"env": "prod", "a/b": "slash"},
		"ClusterValues": map[string]any{"list": []any{"b", "a"}, "secret": "hunter2", "n": 3.0, "nested": map[string]any{"x": "y"}},
	}
}

func TestExecute(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"no template at all":                  {"a: b", "a: b"},
		"a field":                             {"${ .ClusterName }", "prod1"},
		"trimmed":                             {"a ${- .ClusterName -} b", "aprod1b"},
		"a label with a slash":                {`${ index .ClusterLabels "a/b" }`, "slash"},
		"a condition":                         {`${ if eq .ClusterLabels.env "prod" }3${ else }1${ end }`, "3"},
		"and stops early":                     {`${ if and (hasKey .ClusterLabels "no") .ClusterLabels.no }a${ else }b${ end }`, "b"},
		"a default":                           {`${ get .ClusterLabels "no" | default "x" }`, "x"},
		"a loop over a list":                  {`${ range .ClusterValues.list }<${ . }>${ end }`, "<b><a>"},
		"a loop over a map, in order":         {`${ range $k, $v := .ClusterLabels }${ $k }=${ $v };${ end }`, "a/b=slash;env=prod;"},
		"a loop over a number":                {`${ range 3 }${ . }${ end }`, "012"},
		"break and else":                      {`${ range 3 }${ if eq . 1 }${ break }${ end }x${ end }${ range list }${ else }none${ end }`, "xnone"},
		"a template of its own":               {`${ define "t" }(${ . })${ end }${ template "t" .ClusterName }`, "(prod1)"},
		"a block":                             {`${ block "t" .ClusterName }(${ . })${ end }`, "(prod1)"},
		"JSON in order":                       {`${ .ClusterValues | toJson }`, `{"list":["b","a"],"n":3,"nested":{"x":"y"},"secret":"hunter2"}`},
		"keys in order":                       {`${ keys .ClusterLabels | join "," }`, "a/b,env"},
		"values in order":                     {`${ values .ClusterLabels | join "," }`, "slash,prod"},
		"printf":                              {`${ printf "%s-%03d %v %%" .ClusterName 7 true }`, "prod1-007 true %"},
		"printf with digits that pad nothing": {`${ printf "port 123456 %s" "x" }`, "port 123456 x"},
		"counting":                            {`${ until 3 } ${ untilStep 6 0 -2 } ${ seq 1 2 7 }`, "[0 1 2] [6 4 2] 1 3 5 7"},
		"a version":                           {`${ (semver "1.2.3").Minor } ${ semverCompare ">=1.0" "1.2.3" }`, "2 true"},
		"growing a little":                    {`${ repeat 3 "ab" } ${ "a\nb" | indent 2 } ${ replace "a" "bb" "aa" } ${ wrapWith 2 "-" "abcd" }`, "ababab   a\n  b bbbb ab-cd"},
		"regular expressions":                 {`${ regexReplaceAll "(o)" "foo" "<$1>" } ${ regexFindAll "o" "foo" -1 } ${ regexMatch "^f" "foo" }`, "f<o><o> [o o] true"},
		"lists":                               {`${ append (list 1 2) 3 | join "," } ${ without (list 1 2) 1 } ${ list 1 1 | uniq }`, "1,2,3 [2] [1]"},
		"changing what it is given":           {`${ $_ := set .ClusterLabels "env" "x" }${ .ClusterLabels.env }`, "x"},
		"merging":                             {`${ merge (dict "a" 1) (dict "a" 2 "b" 3) | toJson }`, `{"a":1,"b":3}`},
		"and, or and not":                     {`${ or "" "x" } ${ and 1 2 } ${ not 1 }`, "x 2 false"},
		"what is not there, by index":         {`${ index .ClusterLabels "no" }`, "<no value>"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tmpl, err := Parse(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			// A machine is used again.
			for range 2 {
				got, err := tmpl.Execute(context())
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, string(got)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestErrors(t *testing.T) {
	grow := `${ $x := "aaaaaaaa" }${ range 60 }${ $x = %s }${ end }`
	cases := map[string]struct{ text, want string }{
		// While it is parsed.
		"not closed":           {"a\nb: ${ .ClusterName", "line 2: unclosed action"},
		"no end":               {"${ if true }", "line 1: unexpected EOF"},
		"an unknown function":  {"${ foo }", `line 1: calls a function that templates do not have`},
		"a forbidden function": {"a\n${ env \"HOME\" }", "line 2: calls env, which is not allowed: it looks outside"},
		"a random function":    {"${ if true }${ 3 | randAlpha }${ end }", "calls randAlpha, which is not allowed: it gives something new"},
		"a clock":              {`${ now }`, "calls now, which is not allowed: it depends on the clock"},
		"a key":                {`${ genPrivateKey "rsa" }`, "calls genPrivateKey, which is not allowed: it makes keys"},
		"a function of Helm":   {`${ include "a" . }`, "it is Helm's"},
		"in another template":  {`${ define "x" }${ uuidv4 }${ end }`, "calls uuidv4"},
		"our own counter":      {`${ fleetStep -100 }`, `calls a function that templates do not have`},
		"too long":             {strings.Repeat("x", MaxSource+1), "is longer than"},
		"too many parentheses": {"${" + strings.Repeat("(", 20000), "line 1: max expression depth exceeded"},
		"break where none is":  {"${ break }", "${break} outside ${range}"},
		// A password is no template, whatever is in it.
		"a password with a delimiter": {"x${hunter2", "calls a function that templates do not have; helm.disablePreProcess takes ${ as it is"},
		"a password with a quote":     {"x${ 'hunter2' }", "malformed character constant"},
		"a password with a text":      {"x${ \"hunter2\" 'hunter2' }", "line 1: "},
		"a password with a dot":       {"x${.hunter2}", "asks for a key that is not there; templates know ClusterLabels, ClusterName, ClusterValues"},
		"a password with a variable":  {"x${$hunter2}", "undefined variable"},
		"a password with a number":    {"x${0hunter2}", "bad number syntax"},
		"a literal":                   {`${ upper (eq .ClusterName "hunter2") }`, "wrong type for value"},
		// What is not there.
		"a missing label":       {"a: 1\nb: ${ .ClusterLabels.no }", `line 2: <.ClusterLabels.no>: map has no entry for key "no"; ask with hasKey`},
		"a field of a text":     {"${ .ClusterName.no }", "can't evaluate field no"},
		"a missing template":    {`${ template "x" }`, `template "x" not defined`},
		"an index too large":    {`${ index .ClusterValues.list 7 }`, "error calling index"},
		"too few arguments":     {`${ repeat 3 }`, "wrong number of args for repeat"},
		"an argument too many":  {`${ (.ClusterName) "x" }`, `line 1: <(.ClusterName) …>: can't give argument to non-function`},
		"a wrong type":          {`${ upper .ClusterValues.n }`, "wrong type for value; expected string; got float64"},
		"comparing two kinds":   {`${ eq .ClusterValues.n "a" }`, "incompatible types for comparison"},
		"a loop over a text":    {`${ range .ClusterName }${ end }`, "range does not loop over this"},
		"what it says itself":   {`${ fail "set a zone" }`, `fails: set a zone`},
		"what a library says":   {`${ mustFromJson .ClusterValues.secret }`, "mustFromJson does not take what it is given"},
		"what a library panics": {`${ substr 5 9 "abc" }`, "substr does not take what it is given"},
		// Limits.
		"an endless recursion":           {`${ define "x" }${ template "x" }${ end }${ template "x" }`, "deeper than 100"},
		"a recursion of the top":         {`${ template "values" . }`, "deeper than 100"},
		"a tree of calls of the top":     {`${ with index . "n" }${ template "values" . }${ template "values" . }${ end }${ if index . "ClusterName" }${ template "values" ` + strings.Repeat(`(dict "n" `, 60) + "(dict)" + strings.Repeat(")", 60) + ` }${ end }`, "takes more than 100000 steps"},
		"a tree of calls":                {`${ define "a" }${ template "b" }${ template "b" }${ end }${ define "b" }${ range 9 }${ template "c" }${ end }${ end }${ define "c" }${ range 99 }${ range 99 }${ end }${ end }${ end }${ template "a" }`, "takes more than 100000 steps"},
		"a long loop":                    {`${ range 9999999999 }${ end }`, "takes more than 100000 steps"},
		"a loop that continues":          {`${ range 9999999999 }${ continue }${ end }`, "takes more than 100000 steps"},
		"loops in loops":                 {`${ range 999 }${ range 999 }${ end }${ end }`, "takes more than 100000 steps"},
		"too much output":                {`${ $x := repeat 1000000 "x" }${ $x }${ $x }`, "writes more than 1048576 bytes"},
		"repeat":                         {`${ repeat 1000000000 "x" | len }`, "a value of more than 1048576 bytes"},
		"until":                          {`${ until 1000000000 | len }`, "a value of more than"},
		"until, the other way":           {`${ until -1000000000 | len }`, "a value of more than"},
		"untilStep that overflows":       {`${ untilStep 0 9223372036854775807 4611686018427387904 }`, "counts beyond"},
		"seq":                            {`${ seq 1 1 1000000000 }`, "a value of more than"},
		"seq of one":                     {`${ seq 1000000000 }`, "a value of more than"},
		"seq that overflows":             {`${ seq 0 4611686018427387904 9223372036854775807 }`, "counts beyond"},
		"indent":                         {`${ indent 1000000000 "x" }`, "a value of more than"},
		"nindent of many lines":          {`${ repeat 2000 "\n" | nindent 2000 | len }`, "a value of more than"},
		"wrapWith":                       {`${ wrapWith 1 (repeat 2000 "-") (repeat 2000 "x") | len }`, "a value of more than"},
		"replace":                        {`${ replace "" (repeat 2000 "-") (repeat 2000 "x") | len }`, "a value of more than"},
		"join":                           {`${ until 2000 | join (repeat 2000 "x") | len }`, "a value of more than"},
		"split":                          {`${ split "" (repeat 900000 "x") | len }`, "a value of more than"},
		"regexReplaceAll":                {`${ regexReplaceAll "x" (repeat 2000 "x") (repeat 2000 "y") | len }`, "a value of more than"},
		"regexReplaceAll by groups":      {`${ regexReplaceAll "(x*)" (repeat 2000 "x") (repeat 2000 "$1") | len }`, "a value of more than"},
		"matches that look far":          {`${ regexReplaceAll "(x.*y|x)" (repeat 200000 "x") "z" | len }`, "takes more than 100000 steps"},
		"a long expression that is none": {`${ regexMatch (repeat 20000 "(") "x" }`, "regular expression that is too large"},
		"a large expression":             {`${ regexMatch "(abcdefghijklmnopqrstuvwxyz){999}" "x" }`, "regular expression that is too large"},
		"printf that pads":               {`${ printf "%999999d" 1 }`, "pads to more than"},
		"printf that pads by star":       {`${ printf "%*d" 999999 1 }`, "pads to more than"},
		"printf by another star":         {`${ printf (repeat 2000 "%[1]*[2]d") (int64 1000000) 1 | len }`, "pads to more than"},
		"printf many times":              {`${ printf (repeat 2000 "%[1]s") (repeat 20000 "x") | len }`, "a value of more than"},
		"printf of an address":           {`${ printf "%p" .ClusterLabels }`, "prints an address"},
		"an address in a list":           {`${ list (semver "1.2.3") }`, "keeps a value in a list or dict"},
		"doubling by print":              {fmt.Sprintf(grow, "print $x $x"), "a value of more than"},
		"doubling by cat":                {fmt.Sprintf(grow, "cat $x $x"), "a value of more than"},
		"doubling by a list":             {fmt.Sprintf(grow, "list $x $x"), "a value of more than"},
		"doubling by a dict":             {fmt.Sprintf(grow, `dict "a" $x "b" $x`), "a value of more than"},
		"doubling by quotes":             {fmt.Sprintf(grow, "quote $x $x"), "a value of more than"},
		"growing inside of a list":       {`${ $a := dict }${ $x := list $a }${ range 7 }${ $x = list $x $x }${ end }${ $a = set $a "k" (repeat 900000 "x") }${ $x }`, "a value of more than"},
		"doubling by concat":             {`${ $x := list 1 2 3 4 }${ range 60 }${ $x = concat $x $x }${ end }`, "a value of more than"},
		"nesting":                        {`${ $x := list }${ range 200 }${ $x = list $x }${ end }`, "nest, deeper than 100"},
		"a dict in itself":               {`${ $x := dict }${ set $x "x" $x }`, "nest, deeper than 100"},
		"a dict in itself, merged":       {`${ $x := dict }${ merge $x (dict "x" $x) }`, "nest, deeper than 100"},
		"comparing each with each":       {`${ until 9000 | uniq | len }`, "takes more than 100000 steps"},
		"too many arguments":             {`${ list` + strings.Repeat(" 1", 1001) + ` }`, "more than 1000 arguments"},
		"large values again and again":   {`${ $x := repeat 1000000 "x" }${ range 9999 }${ $y := upper $x }${ end }`, "takes more than 100000 steps"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tmpl, err := Parse(tc.text)
			if err == nil {
				_, err = tmpl.Execute(context())
			}
			var is *Error
			if !errors.As(err, &is) || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error %v, want one with %q", err, tc.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error %q quotes a value", err)
			}
		})
	}
}

func TestErrorsAreShort(t *testing.T) {
	long := strings.Repeat("é", 100_000)
	for name, text := range map[string]string{
		"what it says itself": `${ fail (repeat 100000 "x") }`,
		"its own text":        `${ fail "` + long + `" }`,
		"a function":          `${ ` + long + ` }`,
		"a key":               `${ index (dict "a" .ClusterLabels.` + long + `) "a" }`,
	} {
		t.Run(name, func(t *testing.T) {
			tmpl, err := Parse(text)
			if err == nil {
				_, err = tmpl.Execute(context())
			}
			if err == nil || len(err.Error()) > 2000 || !utf8.ValidString(err.Error()) {
				t.Errorf("got an error of %d bytes, want a short one", len(fmt.Sprint(err)))
			}
		})
	}
}
