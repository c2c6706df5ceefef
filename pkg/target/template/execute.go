package template

import "fmt"

// Execute fills the template in. data is the context; a template can change what it is
// given, so that nobody else may have it. An error is an *Error.
func (t *Template) Execute(data map[string]any) (out []byte, err error) {
	m, ok := t.machines.Get().(*machine)
	if !ok {
		m = t.machine()
	}
	defer func() {
		// text/template gives back what it did not expect itself. The hub lives on.
		if r := recover(); r != nil {
			out, err = nil, &Error{Reason: errPanic}
		}
	}()
	m.budget = budget{}
	var written output
	if err := m.template.Execute(&written, data); err != nil {
		return nil, executeError(err, data)
	}
	t.machines.Put(m)
	return written.data, nil
}

const errPanic = "cannot be executed"

// Changes tells whether the template calls something that changes what it is given.
func (t *Template) Changes() bool {
	for _, fn := range t.functions {
		if mutators[fn] {
			return true
		}
	}
	return false
}

// Error is what is wrong with a template. It names what the template asks for of a cluster,
// and quotes neither literals nor what the template was given.
type Error struct {
	// Line in the template, from 1; 0 if it is not known.
	Line int
	// Expression is the part that failed, if there is one.
	Expression string
	Reason     string
}

func (e *Error) Error() string {
	text := ""
	if e.Line > 0 {
		text = fmt.Sprintf("line %d: ", e.Line)
	}
	if e.Expression != "" {
		text += fmt.Sprintf("<%s>: ", e.Expression)
	}
	return text + e.Reason
}
