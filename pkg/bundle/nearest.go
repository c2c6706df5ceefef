package bundle

import (
	"reflect"
	"strings"
)

// nearest returns the known field that was probably meant: at most a third of the letters
// are different. None is better than a guess.
func nearest(written string, fields map[string]reflect.Type, without map[string]bool) string {
	// What is longer is no slip of a finger, and comparing it is work.
	const longest = 64
	if len(written) > longest {
		return ""
	}
	best, bestDistance := "", len(written)/3+1
	for name := range fields {
		if without[name] {
			continue
		}
		d := distance(strings.ToLower(written), strings.ToLower(name))
		if d < bestDistance || d == bestDistance && best != "" && name < best {
			best, bestDistance = name, d
		}
	}
	return best
}

// distance is how many bytes must be put in, left out or replaced to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
