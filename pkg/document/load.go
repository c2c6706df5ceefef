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
	name := file
	if file == "-" {
		name = StandardInput
	} else {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	// One byte more than is allowed shows that there is too much.
	data, err := io.ReadAll(io.LimitReader(in, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return Read(name, data)
}
