package template

import (
	"fmt"
	"reflect"
)

// guarded is a function that keeps to the limits. Its type is the function's own, so that
// text/template checks arguments as it always does.
func guarded(name string, fn any, b *budget) any {
	f := reflect.ValueOf(fn)
	foresee, mutates := growth[name], mutators[name]
	return reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
		size := 0
		for i, arg := range args {
			if i == len(args)-1 && f.Type().IsVariadic() && arg.Len() > maxArguments {
				panic(errArgs)
			}
			size += measure(arg)
		}
		b.spend(1 + float64(size)/1024)
		if foresee != nil {
			if foresee(args, b) > MaxOutput {
				panic(errValue)
			}
		}
		results := call(f, args)
		if mutates {
			// Also of what another result would hide.
			measure(args[0])
		}
		b.spend(float64(measure(results[0])) / 1024)
		return results
	}).Interface()
}

func call(f reflect.Value, args []reflect.Value) []reflect.Value {
	// What a library panics with is no more than an error of the template.
	defer func() {
		if r := recover(); r != nil {
			if limit, ok := r.(limitError); ok {
				panic(limit)
			}
			panic(fmt.Errorf("it does not take what it was given"))
		}
	}()
	if f.Type().IsVariadic() {
		return f.CallSlice(args)
	}
	return f.Call(args)
}

// mutators change their first argument.
var mutators = map[string]bool{
	"set": true, "unset": true, "merge": true, "mergeOverwrite": true, "mustMerge": true, "mustMergeOverwrite": true,
}
