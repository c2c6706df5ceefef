package source

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/fleet-addon/pkg/bundle"
	"open-cluster-management.io/fleet-addon/test/servers"
)

func TestChartOfArchive(t *testing.T) {
	s := servers.New(t, servers.Options{Username: "me", Password: secret})
	_, data := servers.Archive(t, web(t)[0])
	s.Serve("/web.tgz", data)
	s.Serve("/bad.tgz", []byte("<html>"))
	s.Serve("/empty.tgz", tarball(t, true, entry{name: "x/y.yaml", data: "a"}))
	sum := fmt.Sprintf("%x", sha256.Sum256(data))
	inside := []string{"web/Chart.yaml", "web/templates/a.yaml"}
	tests := map[string]struct {
		path    string
		regex   string
		want    []string
		wantErr []string
	}{
		"an archive":            {path: "/web.tgz", want: inside},
		"what is asked stays":   {path: "/web.tgz?token=" + secret + "&archive=tgz", want: inside},
		"a directory of it":     {path: "/web.tgz//web", want: []string{"Chart.yaml", "templates/a.yaml"}},
		"a checksum":            {path: "/web.tgz?checksum=sha256:" + sum, want: inside},
		"another checksum":      {path: "/web.tgz?checksum=sha256:" + strings.Repeat("0", 64), wantErr: []string{"/web.tgz", "checksum"}},
		"a checksum of a kind":  {path: "/web.tgz?checksum=md5:0", wantErr: []string{"helm.chart", "sha256:"}},
		"no such directory":     {path: "/web.tgz//db", wantErr: []string{"/web.tgz", `"db"`}},
		"a directory outside":   {path: "/web.tgz//../db", wantErr: []string{"helm.chart", "unsafe"}},
		"no archive":            {path: "/bad.tgz", wantErr: []string{"/bad.tgz", "no tar archive"}},
		"no chart":              {path: "/empty.tgz", wantErr: []string{"/empty.tgz", "no Chart.yaml"}},
		"no such file":          {path: "/other.tgz", wantErr: []string{"/other.tgz", "404"}},
		"credentials elsewhere": {path: "/web.tgz", regex: "oci://", wantErr: []string{"/web.tgz", "401", "does not match"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.regex == "" {
				tc.regex = s.URL
			}
			c := newCharts(t, ChartOptions{Credentials: Credentials{Username: "me", Password: secret, CABundle: s.CA}, URLRegex: tc.regex})
			files, err := c.Chart(t.Context(), bundle.ChartRef{Chart: s.URL + tc.path})
			if tc.wantErr != nil {
				wantError(t, err, tc.wantErr...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, names(files)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

type entry struct {
	name, data, link string
	kind             byte
}

func tarball(t *testing.T, zip bool, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		if e.kind == 0 {
			e.kind = tar.TypeReg
		}
		h := &tar.Header{Typeflag: e.kind, Name: e.name, Linkname: e.link, Size: int64(len(e.data)), Mode: 0o644, Format: tar.FormatGNU}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if !zip {
		return out.Bytes()
	}
	return gzipOf(t, out.Bytes())
}

func gzipOf(t *testing.T, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestUnpack(t *testing.T) {
	small := limits{unpacked: 4 * mib, files: 10}
	many := make([]entry, 11)
	for i := range many {
		many[i] = entry{name: fmt.Sprintf("x/%d", i)}
	}
	dirs := make([]entry, 10_000)
	for i := range dirs {
		dirs[i] = entry{name: fmt.Sprintf("x/%d/", i), kind: tar.TypeDir}
	}
	link := func(name, to string) entry { return entry{name: name, link: to, kind: tar.TypeSymlink} }
	tests := map[string]struct {
		data    []byte
		want    map[string]string
		wantErr error
		wantIn  string
	}{
		"without gzip":                  {data: tarball(t, false, entry{name: "./x/a", data: "1"}), want: map[string]string{"x/a": "1"}},
		"a hidden file and directory":   {data: tarball(t, true, entry{name: "x/.a"}, entry{name: ".b/c"}, entry{name: "x/a"}), want: map[string]string{"x/a": ""}},
		"a link to a file beside it":    {data: tarball(t, true, link("x/b", "../x/c"), link("x/c", "a"), entry{name: "x/a", data: "1"}), want: map[string]string{"x/a": "1", "x/b": "1", "x/c": "1"}},
		"the last of two with one name": {data: tarball(t, true, entry{name: "a", data: "1"}, entry{name: "a", data: "2"}), want: map[string]string{"a": "2"}},
		"a link that leads out":         {data: tarball(t, true, link("x/a", "../../etc/passwd")), wantErr: ErrUnsafe, wantIn: `"x/a"`},
		"a link to an absolute path":    {data: tarball(t, true, link("x/a", "/etc/passwd")), wantErr: ErrUnsafe, wantIn: `"x/a"`},
		"a link through one that does":  {data: tarball(t, true, link("x/a", "b"), link("x/b", "../..")), wantErr: ErrUnsafe, wantIn: "leads out"},
		"links in a circle":             {data: tarball(t, true, link("a", "b"), link("b", "a")), wantIn: "no file of it"},
		"a link to nothing":             {data: tarball(t, true, link("a", "b")), wantIn: "no file of it"},
		"an absolute name":              {data: tarball(t, true, entry{name: "/etc/passwd"}), wantErr: ErrUnsafe, wantIn: "/etc/passwd"},
		"a name that leads out":         {data: tarball(t, true, entry{name: "x/../../y"}), wantErr: ErrUnsafe, wantIn: "x/../../y"},
		"a name that leads out and in":  {data: tarball(t, true, entry{name: "x/../y"}), wantErr: ErrUnsafe},
		"a name for Windows":            {data: tarball(t, true, entry{name: `x\..\..\y`}), wantErr: ErrUnsafe},
		"a drive":                       {data: tarball(t, true, entry{name: "c:/y"}), wantErr: ErrUnsafe},
		"a hard link":                   {data: tarball(t, true, entry{name: "x", link: "/etc/passwd", kind: tar.TypeLink}), wantErr: ErrUnsafe},
		"a device":                      {data: tarball(t, true, entry{name: "x", kind: tar.TypeChar}), wantErr: ErrUnsafe},
		"too many files":                {data: tarball(t, true, many...), wantErr: ErrTooLarge, wantIn: "more than 10 files"},
		"directories without an end":    {data: tarball(t, true, dirs...), wantErr: ErrTooLarge},
		"a bomb in one file":            {data: tarball(t, true, entry{name: "x", data: strings.Repeat("0", 4*mib+1)}), wantErr: ErrTooLarge, wantIn: "more than 4 MiB"},
		"a bomb in two files":           {data: tarball(t, true, entry{name: "x", data: strings.Repeat("0", 3*mib)}, entry{name: "y", data: strings.Repeat("0", 3*mib)}), wantErr: ErrTooLarge},
		"a bomb of links":               {data: tarball(t, true, entry{name: "x", data: strings.Repeat("0", 3*mib)}, link("y", "x")), wantErr: ErrTooLarge},
		"a bomb that is no tar":         {data: gzipOf(t, append([]byte("x"), make([]byte, 20*mib)...)), wantIn: "no tar archive"},
		"gzip that is cut":              {data: tarball(t, true, entry{name: "x", data: "y"})[:30], wantIn: "no tar archive"},
		"gzip that is none":             {data: []byte{0x1f, 0x8b, 0}, wantIn: "no gzip"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			files, err := unpack(tc.data, small)
			if tc.want == nil {
				wantError(t, err, tc.wantIn)
				if tc.wantErr != nil && !errors.Is(err, tc.wantErr) {
					t.Errorf("error %v, want %v", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, f := range files {
				got[f.Name] = string(f.Data)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnpackKeepsToTheLimits(t *testing.T) {
	charts, err := NewCharts(ChartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := charts.Unpack(make([]byte, charts.limits.archive+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v, want ErrTooLarge", err)
	}
	if _, err := charts.Unpack([]byte("name: x\n")); err == nil {
		t.Error("a text was unpacked")
	}
}
