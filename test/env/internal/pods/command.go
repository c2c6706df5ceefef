package pods

import (
	"net"
	"slices"
	"strconv"
	"strings"
)

// mount maps a path inside the container to one of this machine.
type mount struct{ inside, outside string }

// replacePaths replaces the mounts' paths wherever they stand as whole leading parts of a path in text.
func replacePaths(text string, mounts []mount) string {
	sorted := slices.SortedFunc(slices.Values(mounts), func(a, b mount) int { return len(b.inside) - len(a.inside) })
	var out strings.Builder
	for i := 0; i < len(text); {
		replaced := false
		for _, m := range sorted {
			inside := strings.TrimSuffix(m.inside, "/")
			if inside == "" || !strings.HasPrefix(text[i:], inside) || !starts(text, i) || !ends(text, i+len(inside)) {
				continue
			}
			out.WriteString(m.outside)
			i += len(inside)
			replaced = true
			break
		}
		if !replaced {
			out.WriteByte(text[i])
			i++
		}
	}
	return out.String()
}

const separators = "=,:; \"'"

func starts(text string, i int) bool { return i == 0 || strings.IndexByte(separators, text[i-1]) >= 0 }

func ends(text string, i int) bool {
	return i == len(text) || text[i] == '/' || strings.IndexByte(separators, text[i]) >= 0
}

// expand replaces $(NAME) by the variable's value; $$(NAME) stands for $(NAME), and an unknown name stays as it is.
func expand(text string, variables map[string]string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		rest := text[i:]
		switch {
		case strings.HasPrefix(rest, "$$"):
			out.WriteByte('$')
			i += 2
		case strings.HasPrefix(rest, "$("):
			end := strings.IndexByte(rest, ')')
			if end < 0 {
				out.WriteString(rest)
				return out.String()
			}
			value, known := variables[rest[2:end]]
			if !known {
				value = rest[:end+1]
			}
			out.WriteString(value)
			i += end + 1
		default:
			out.WriteByte(text[i])
			i++
		}
	}
	return out.String()
}

// Flags whose listen addresses would collide when several pods run on one machine.
const (
	metricsFlag = "--metrics-bind-address"
	probeFlag   = "--health-probe-bind-address"
)

// addresses are the listen addresses that stand for those in the arguments.
type addresses struct {
	metrics, probe string
	ports          []int
	// byPort maps the port that the container would listen on to the address it got.
	byPort map[int]string
}

// moveAddresses replaces the two listen addresses in args by free ones. An address "0" or "" means off and stays.
func moveAddresses(args []string, next func() (int, error)) ([]string, addresses, error) {
	moved := addresses{byPort: map[int]string{}}
	out := slices.Clone(args)
	for i, arg := range out {
		name, value, joined := strings.Cut(arg, "=")
		if name != metricsFlag && name != probeFlag {
			continue
		}
		at, prefix := i, name+"="
		if !joined {
			if i+1 >= len(out) {
				continue
			}
			at, prefix, value = i+1, "", out[i+1]
		}
		_, portText, err := net.SplitHostPort(value)
		if err != nil {
			continue
		}
		port, err := next()
		if err != nil {
			return nil, moved, err
		}
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		out[at] = prefix + address
		moved.ports = append(moved.ports, port)
		if inside, err := strconv.Atoi(portText); err == nil {
			moved.byPort[inside] = address
		}
		if name == metricsFlag {
			moved.metrics = address
		} else {
			moved.probe = address
		}
	}
	return out, moved, nil
}
