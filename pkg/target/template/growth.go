package template

import (
	"math"
	"reflect"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
)

// growth foresees, in bytes and never too little, what functions make that can make far
// more than they take. Where the work is more than the size it spends it.
var growth = map[string]func(args []reflect.Value, b *budget) float64{
	"repeat":  func(a []reflect.Value, _ *budget) float64 { return number(a[0]) * length(a[1]) },
	"indent":  indented,
	"nindent": indented,
	"until": func(a []reflect.Value, _ *budget) float64 {
		return counted(0, number(a[0]), 1)
	},
	"untilStep": func(a []reflect.Value, _ *budget) float64 {
		return counted(number(a[0]), number(a[1]), number(a[2]))
	},
	"seq":  sequence,
	"wrap": func(a []reflect.Value, _ *budget) float64 { return 2 * length(a[1]) },
	"wrapWith": func(a []reflect.Value, _ *budget) float64 {
		return (length(a[2])/max(1, number(a[0]))+1)*max(1, length(a[1])) + length(a[2])
	},
	"replace": func(a []reflect.Value, _ *budget) float64 {
		return float64(strings.Count(a[2].String(), a[0].String()))*length(a[1]) + length(a[2])
	},
	"join": func(a []reflect.Value, _ *budget) float64 {
		return float64(elements(a[1])) * length(a[0])
	},
	"printf":    printed,
	"split":     func(a []reflect.Value, _ *budget) float64 { return parts(a[0], a[1]) * entrySize },
	"splitList": func(a []reflect.Value, _ *budget) float64 { return parts(a[0], a[1]) * elementSize },
	"splitn":    func(a []reflect.Value, _ *budget) float64 { return parts(a[0], a[2]) * entrySize },
	"uniq":      squared, "mustUniq": squared,
	"without": squared, "mustWithout": squared,
	"regexMatch": matched, "mustRegexMatch": matched, "regexFind": matched, "mustRegexFind": matched,
	"regexFindAll": matchedAll, "mustRegexFindAll": matchedAll,
	"regexSplit": matchedAll, "mustRegexSplit": matchedAll,
	"regexReplaceAll": replaced, "mustRegexReplaceAll": replaced,
	"regexReplaceAllLiteral": replaced, "mustRegexReplaceAllLiteral": replaced,
}

func length(v reflect.Value) float64 { return float64(v.Len()) }

func number(v reflect.Value) float64 { return float64(v.Int()) }

// elements of what stands in an argument of any type.
func elements(v reflect.Value) int {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return v.Len()
	default:
		return 1
	}
}

func indented(a []reflect.Value, _ *budget) float64 {
	lines := strings.Count(a[1].String(), "\n") + 1
	return number(a[0])*float64(lines) + length(a[1])
}

// counted foresees a list of numbers. Beyond maxNumber adding a step could overflow, and
// the loop would never end.
func counted(start, stop, step float64) float64 {
	for _, n := range []float64{start, stop, step} {
		if math.Abs(n) > maxNumber {
			panic(errNumber)
		}
	}
	return (math.Abs(stop-start)/max(1, math.Abs(step)) + 1) * elementSize
}

func sequence(a []reflect.Value, _ *budget) float64 {
	size := 0.0
	ends := []float64{0, 1}
	for i := range a[0].Len() {
		ends = append(ends, number(a[0].Index(i)))
	}
	if len(ends) == 5 {
		// Of three numbers the one in the middle is the step.
		size = counted(ends[2], ends[4], ends[3])
	} else {
		for _, end := range ends {
			size += counted(0, end, 1)
		}
	}
	return size
}

func parts(sep, text reflect.Value) float64 {
	return float64(strings.Count(text.String(), sep.String()) + 1)
}

// squared spends what comparing every element with every other takes.
func squared(a []reflect.Value, b *budget) float64 {
	n := float64(elements(a[0]))
	if len(a) > 1 {
		b.spend(n * float64(a[1].Len()) / 64)
	} else {
		b.spend(n * n / 64)
	}
	return 0
}

// matched spends what a regular expression takes, which is its size times the text's.
func matched(a []reflect.Value, b *budget) float64 {
	compiled(a[0].String(), length(a[1]), b)
	return 0
}

// compiled spends what looking through the text once takes, and returns that too.
func compiled(text string, length float64, b *budget) (*regexp.Regexp, float64) {
	if len(text) > maxRegex {
		// To read it would take long already.
		panic(errRegex)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		// The function says so, or takes it for no match.
		return nil, 0
	}
	size := instructions(parsed)
	if size > maxRegex {
		panic(errRegex)
	}
	cost := size / 64 * (1 + length/16)
	b.spend(cost)
	return regexp.MustCompile(text), cost
}

// matches counts the matches of a regular expression. Looking for each of them can take
// all of the text: (a.*b|a) does where there is no b.
func matches(expression, text reflect.Value, b *budget) (float64, bool) {
	re, cost := compiled(expression.String(), length(text), b)
	if re == nil {
		return 0, false
	}
	affordable := int(float64(MaxSteps-b.steps)/cost) + 1
	found := float64(len(re.FindAllStringIndex(text.String(), affordable)))
	b.spend(found * cost)
	return found, true
}

// instructions foresees how many a regular expression compiles to.
func instructions(re *syntax.Regexp) float64 {
	size := float64(1 + len(re.Rune))
	for _, sub := range re.Sub {
		size += instructions(sub)
	}
	if re.Op == syntax.OpRepeat {
		size *= float64(max(1, re.Min, re.Max))
	}
	return size
}

func matchedAll(a []reflect.Value, b *budget) float64 {
	found, ok := matches(a[0], a[1], b)
	if !ok {
		return 0
	}
	return (found+1)*elementSize + length(a[1])
}

// replaced: a match becomes the replacement; each $ in that can stand for the match.
func replaced(a []reflect.Value, b *budget) float64 {
	found, ok := matches(a[0], a[1], b)
	if !ok {
		return 0
	}
	return length(a[1])*float64(1+strings.Count(a[2].String(), "$")) + found*length(a[2])
}

// printed foresees printf: every verb can print any argument, padded.
func printed(a []reflect.Value, _ *budget) float64 {
	format := a[0].String()
	largest := 0
	for i := range a[1].Len() {
		largest = max(largest, measure(a[1].Index(i)))
		if strings.Contains(format, "*") && wide(a[1].Index(i).Elem()) {
			panic(errWidth)
		}
	}
	count := float64(strings.Count(format, "%"))
	width := count
	for _, verb := range verbs.FindAllString(format, -1) {
		for _, run := range digits.FindAllString(verb, -1) {
			n, err := strconv.Atoi(run)
			if err != nil || n > maxWidth {
				panic(errWidth)
			}
			width += float64(n)
		}
	}
	if strings.Contains(format, "*") {
		width += count * maxWidth
	}
	if address.MatchString(format) {
		panic(errAddress)
	}
	// What is printed is quoted at most: far less than eight times as long. MaxOutput
	// still bounds the result; this bounds what is made before that is known.
	return (count*float64(largest)*8 + width + length(a[0])) / 8
}

// wide tells whether a number pads too far: printf takes one of any type of integer.
func wide(n reflect.Value) bool {
	switch {
	case n.CanInt():
		return n.Int() > maxWidth || n.Int() < -maxWidth
	case n.CanUint():
		return n.Uint() > maxWidth
	default:
		return false
	}
}

var (
	verbs      = regexp.MustCompile(`%[^%a-zA-Z]*`)
	digits     = regexp.MustCompile(`[0-9]+`)
	address    = regexp.MustCompile(`%[^%a-zA-Z]*p`)
	errAddress = limitError("prints an address with %p, another one at each look")
)
