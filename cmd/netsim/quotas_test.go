package main

import (
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

func TestQuotasOnTheCommandLine(t *testing.T) {
	t.Parallel()
	var c commands
	parser, err := kong.New(&c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse([]string{"quotas", "set", "acct_1", "streams.open=3", "uploads.day=default"}); err != nil {
		t.Fatal(err)
	}
	want := setQuotas{"acct_1", map[string]string{"streams.open": "3", "uploads.day": "default"}}
	if diff := cmp.Diff(want, c.Operate.Quotas.Set); diff != "" {
		t.Error(diff)
	}
}
