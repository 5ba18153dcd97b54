package netsim

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"net/http"

	"netsim/sdk/go/api"
)

// Row is a row of a table: the text of each column, by its name.
type Row map[string]string

// Rows iterates over the rows of a result file in CSV. It ends after an error.
func (c *Client) Rows(ctx context.Context, simulationID, fileName string) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		file, err := c.Download(ctx, simulationID, fileName)
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close()
		table(file, yield)
	}
}

func table(file io.Reader, yield func(Row, error) bool) {
	lines := csv.NewReader(file)
	lines.ReuseRecord = true
	var names []string
	for {
		values, err := lines.Read()
		switch {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			yield(nil, err)
			return
		case names == nil:
			names = append(names, values...)
			continue
		}
		row := make(Row, len(names))
		for i, name := range names {
			row[name] = values[i]
		}
		if !yield(row, nil) {
			return
		}
	}
}

// Download returns the content of a result file. Its last read fails if the content is not
// what the service has the checksum of.
func (c *Client) Download(ctx context.Context, simulationID, fileName string) (io.ReadCloser, error) {
	link, err := c.GetResultDownload(ctx, simulationID, &api.GetResultDownloadParams{FileName: fileName})
	if err != nil {
		return nil, err
	}
	response, err := c.transport.object(ctx, http.MethodGet, link.DownloadURL, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("download %s: %w", fileName, err)
	}
	return &checked{ReadCloser: response.Body, hash: sha256.New(), want: link.Checksum}, nil
}

// checked compares the hash of what was read at its end.
type checked struct {
	io.ReadCloser
	hash hash.Hash
	want string
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.hash.Write(p[:n])
	if errors.Is(err, io.EOF) {
		if got := "sha256:" + hex.EncodeToString(c.hash.Sum(nil)); got != c.want {
			return n, fmt.Errorf("the file has the checksum %s and not %s", got, c.want)
		}
	}
	return n, err
}
