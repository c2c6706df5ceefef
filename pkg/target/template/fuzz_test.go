package template

import (
	"bytes"
	"errors"
	"testing"
)

// Whatever people write: no panic, no end that does not come, no more than the limits,
// and the same at every look.
func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{
		"a: ${ .ClusterName }", "${ range until 9 }${ . }${ end }", `${ define "x" }${ template "x" }${ end }${ template "x" }`,
		`${ $x := "a" }${ range 99 }${ $x = print $x $x }${ end }`, "${ range 9999999999 }${ end }", `${ repeat 1000000000 "x" }`,
		`${ untilStep 0 9223372036854775807 4611686018427387904 }`, `${ printf "%*d" 999999 1 }`, `${ $x := dict }${ set $x "x" $x }${ $x }`,
		`${ regexReplaceAll "(x*)" (repeat 2000 "x") (repeat 2000 "$1") }`, `${ merge (dict "a" 1) .ClusterLabels | toJson }`,
		`${ semver "1.2.3" }`, `${ fromJson "[1,{}]" }`, `${ list 1 2 | chunk 0 }`, `${ substr -1 9 "x" }`, `${ index .ClusterLabels "a" }`,
		`${ dig "a" "b" "c" .ClusterValues }`, `${ mulf 1e300 1e300 1e300 }`, `${ urlParse "x://y" | urlJoin }`, `${ wrapWith 1 "-" "abc" }`,
		`${ "x" | indent 99 | quote | b64enc | b32enc | trunc 9 }`, `${ with $ }${ . | toPrettyJson }${ end }`, `${ keys . | sortAlpha | join "," }`,
		`${ dict "a" (list 1 2) | deepCopy | toRawJson }`, `${ tuple 1 2 | reverse | first }`, `${ seq 1 -2 -9 }`, `${ round 1.5 400 }`, `${ break }`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tmpl, err := Parse(text)
		if err != nil {
			return
		}
		first, err := tmpl.Execute(context())
		if unexpected := new(Error); errors.As(err, &unexpected) && unexpected.Reason == errPanic {
			t.Fatalf("%q: %v", text, err)
		}
		if len(first) > MaxOutput {
			t.Fatalf("%q writes %d bytes", text, len(first))
		}
		second, errAgain := tmpl.Execute(context())
		if !bytes.Equal(first, second) || (err == nil) != (errAgain == nil) {
			t.Fatalf("%q gives %q, %v, and then %q, %v", text, first, err, second, errAgain)
		}
		if err == nil {
			_, _ = Decode(first, MaxOutput)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("a: &a [x,x]\nb: [*a, *a]"))
	f.Add([]byte("<<: &a {x: 1}\n<<: *a"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 1 << 16
		value, err := Decode(data, limit)
		if err != nil && !errors.Is(err, ErrYAML) {
			t.Fatal(err)
		}
		if deeper(value, MaxDepth) {
			t.Fatal("nests too deep")
		}
	})
}
