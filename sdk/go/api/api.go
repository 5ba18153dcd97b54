// Package api is generated from the contract of netsim: its types and a method for each of
// its operations. Package netsim has the client that carries them.
package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
)

//go:generate go tool -modfile=../../../tools/go.mod oapi-codegen -config oapi-codegen.yaml ../../../api/openapi.yaml

// EntityTag is what If-Match takes: the version of a resource that a write changes, as its
// ETag shows it, in quotes. "*" is any version.
type EntityTag string

// Version returns the tag of a resource whose version is a member of it, as that of a
// configuration is.
func Version(number int64) EntityTag { return EntityTag(fmt.Sprintf("%q", fmt.Sprint(number))) }

// Tag returns the entity tag of a response, "" if it has none.
func Tag(response *http.Response) EntityTag { return EntityTag(response.Header.Get("ETag")) }

// Position is a Consistency-Token: a read with it shows at least what was recorded up to
// there. AnyPosition allows an answer that is a few seconds old.
type Position string

// AnyPosition asks for no position.
const AnyPosition Position = "any"

// decode returns the JSON body of a response; nil for one without, such as 202, 204 or 304.
// The Doer has made errors of refusals.
func decode[T any](response *http.Response, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || len(body) == 0 {
		return nil, err
	}
	value := new(T)
	if err := json.Unmarshal(body, value); err != nil {
		return nil, fmt.Errorf("%s %s: %w", response.Request.Method, response.Request.URL.Path, err)
	}
	return value, nil
}

func discard(response *http.Response, err error) error {
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return errors.Join(err, response.Body.Close())
}

// items iterates over the items of a list. A page is asked for when the one before is used up.
func items[T any](page func(next string) ([]T, Pagination, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for next := ""; ; {
			list, at, err := page(next)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range list {
				if !yield(item, nil) {
					return
				}
			}
			if !at.HasMore || at.NextCursor == "" {
				return
			}
			next = at.NextCursor
		}
	}
}
