package template

import (
	"fmt"
	"reflect"

	"github.com/Masterminds/semver/v3"
)

// The limits of one execution. They are far beyond what values need, and small enough
// for a hub that renders a thousand clusters.
const (
	// MaxSource is how long a template can be, in bytes.
	MaxSource = 1 << 20
	// MaxOutput is what a template can write, and how large a value can be that one of
	// its functions takes or makes, in bytes.
	MaxOutput = 1 << 20
	// MaxSteps bounds the work: a call of a function, a pass of a loop for each node in
	// it, and every KiB that a function takes or makes is a step.
	MaxSteps = 100_000
	// MaxDepth is how deep templates can call each other, and values can nest.
	MaxDepth = 100
	// maxArguments of one call.
	maxArguments = 1000
	// maxNumber bounds where numbers of until, seq and the like can begin and end.
	maxNumber = 1 << 40
	// maxWidth of a verb of printf.
	maxWidth = 4096
	// maxRegex bounds a regular expression, in bytes and in instructions once compiled.
	maxRegex = 10_000
)

// limitError says which limit was met.
type limitError string

func (e limitError) Error() string { return string(e) }

var (
	errSteps  = limitError(fmt.Sprintf("takes more than %d steps: make the loop shorter", MaxSteps))
	errOutput = limitError(fmt.Sprintf("writes more than %d bytes", MaxOutput))
	errValue  = limitError(fmt.Sprintf("makes or takes a value of more than %d bytes", MaxOutput))
	errDepth  = limitError(fmt.Sprintf("templates call each other, or values nest, deeper than %d", MaxDepth))
	errArgs   = limitError(fmt.Sprintf("gives a function more than %d arguments", maxArguments))
	errNumber = limitError(fmt.Sprintf("counts beyond %d", int64(maxNumber)))
	errWidth  = limitError(fmt.Sprintf("pads to more than %d characters", maxWidth))
	errRegex  = limitError("has a regular expression that is too large")
	errType   = limitError("keeps a value in a list or dict that is neither text, number, bool, list nor dict")
)

// budget counts one execution.
type budget struct {
	steps, depth int
}

// spend panics with what a function's caller takes for its error.
func (b *budget) spend(steps float64) {
	if float64(b.steps)+steps > MaxSteps {
		panic(errSteps)
	}
	b.steps += int(steps)
}

// What lists and dicts take beside their elements, in bytes.
const (
	elementSize = 16
	entrySize   = 48
)

// measure returns how large a value is, in bytes; it panics when that is too large or
// too deep, which ends cycles too. Something that is shared counts at each place: that is
// how often it would be written.
func measure(v reflect.Value) int {
	size := 0
	walk(v, 0, &size)
	return size
}

var versionType = reflect.TypeFor[*semver.Version]()

func walk(v reflect.Value, depth int, size *int) {
	if *size += elementSize; *size > MaxOutput {
		panic(errValue)
	}
	if depth > MaxDepth {
		panic(errDepth)
	}
	switch v.Kind() {
	case reflect.Interface:
		walk(v.Elem(), depth, size)
	case reflect.String:
		*size += v.Len()
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			*size += v.Len()
			break
		}
		for i := range v.Len() {
			walk(v.Index(i), depth+1, size)
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			*size += entrySize
			walk(entries.Key(), depth+1, size)
			walk(entries.Value(), depth+1, size)
		}
	case reflect.Pointer, reflect.Struct, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		// Inside of something it would be printed as an address, another one each time.
		if depth > 0 || v.Kind() != reflect.Struct && v.Type() != versionType {
			panic(errType)
		}
	default:
	}
	if *size > MaxOutput {
		panic(errValue)
	}
}

// output takes what a template writes.
type output struct{ data []byte }

func (o *output) Write(p []byte) (int, error) {
	if len(o.data)+len(p) > MaxOutput {
		return 0, errOutput
	}
	o.data = append(o.data, p...)
	return len(p), nil
}
