package document

import (
	"fmt"
	"io"
	"os"
)

// StandardInput is how errors name what was given as "-".
const StandardInput = "standard input"

// Load reads the documents of a file or, for "-", of in. As with Read, documents that
// can be read are returned beside an error.
func Load(file string, in io.Reader) ([]Document, error) {
	name, data, err := Bytes(file, in)
	if err != nil {
		return nil, err
	}
	return Read(name, data)
}

// Bytes are all that is in a file or, for "-", in in, and how errors name that; more than
// MaxSize is ErrTooLarge.
func Bytes(file string, in io.Reader) (name string, data []byte, err error) {
	name = file
	if file == "-" {
		name = StandardInput
	} else {
		f, err := os.Open(file)
		if err != nil {
			return name, nil, err
		}
		defer f.Close()
		in = f
	}
	// One byte more than is allowed shows that there is too much.
	if data, err = io.ReadAll(io.LimitReader(in, MaxSize+1)); err != nil {
		return name, nil, fmt.Errorf("read %s: %w", name, err)
	}
	return name, data, fits(name, data)
}
