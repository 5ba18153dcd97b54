package webhooks_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"netsim/stream/webhooks"
)

func networks(t testing.TB, texts ...string) webhooks.Networks {
	t.Helper()
	n, err := webhooks.ParseNetworks(texts)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestURLsThatAreRefused(t *testing.T) {
	t.Parallel()
	none, local := webhooks.Networks{}, networks(t, "127.0.0.0/8", " fd00::/8")
	for url, want := range map[string]struct{ none, local bool }{
		"https://example.com/hook?a=b":         {true, true},
		"https://example.com":                  {true, true},
		"https://example.com:8443/":            {true, true},
		"https://8.8.8.8/":                     {true, true},
		"https://[2606:4700::1111]/":           {true, true},
		"https://127.0.0.1/":                   {false, true},
		"http://127.0.0.1:8080/":               {false, true},
		"http://127.0.0.1:80/":                 {false, true},
		"http://localhost/":                    {false, true}, // its addresses are checked when it is resolved
		"https://[fd00::1]/":                   {false, true},
		"http://8.8.8.8/":                      {false, false},
		"http://example.com:81/":               {false, false},
		"https://example.com:25/":              {false, false},
		"https://example.com:80/":              {false, false},
		"https://example.com:/":                {false, false},
		"https://example.com:99999/":           {false, false},
		"https://user@example.com/":            {false, false},
		"https://user:secret@example.com/":     {false, false},
		"https://example.com/#fragment":        {false, false},
		"https://example.com/#":                {false, false},
		"https://exämple.com/":                 {false, false},
		"https:example.com":                    {false, false},
		"https:///path":                        {false, false},
		"ftp://example.com/":                   {false, false},
		"example.com":                          {false, false},
		"":                                     {false, false},
		"https://10.0.0.1/":                    {false, false},
		"https://[::1]/":                       {false, false},
		"https://[::ffff:10.0.0.1]/":           {false, false},
		"https://[::ffff:127.0.0.1]/":          {false, true},
		"https://[fe80::1%25eth0]/":            {false, false},
		"https://" + strings.Repeat("a", 2050): {false, false},
	} {
		if err := webhooks.CheckURL(url, none); (err == nil) != want.none {
			t.Errorf("%s: %v", url, err)
		}
		if err := webhooks.CheckURL(url, local); (err == nil) != want.local {
			t.Errorf("%s in allowed networks: %v", url, err)
		}
	}
	for _, text := range []string{"127.0.0.1", "10.0.0.0/33", "::ffff:10.0.0.0/104", "", "127.0.0.0/8,10.0.0.0/8"} {
		if _, err := webhooks.ParseNetworks([]string{"127.0.0.0/8", text}); err == nil {
			t.Errorf("%q is no network", text)
		}
	}
}

// An address of each network that is not public is refused, and public ones beside it are
// not.
func TestAddressesThatAreNotPublic(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"0.0.0.0": false, "10.255.255.255": false, "100.64.0.1": false, "100.127.255.255": false, "127.0.0.1": false, "169.254.169.254": false,
		"172.16.0.1": false, "172.31.255.255": false, "192.0.0.8": false, "192.0.2.1": false, "192.88.99.1": false, "192.168.1.1": false,
		"198.18.0.1": false, "198.19.255.255": false, "198.51.100.1": false, "203.0.113.1": false, "224.0.0.1": false, "240.0.0.1": false, "255.255.255.255": false,
		"1.1.1.1": true, "9.255.255.255": true, "11.0.0.0": true, "100.63.255.255": true, "100.128.0.0": true, "172.15.255.255": true, "172.32.0.0": true, "223.255.255.255": true,
		"::": false, "::1": false, "64:ff9b::a00:1": false, "64:ff9b:1::1": false, "100::1": false, "2001::1": false, "2001:db8::1": false, "2002:a00:1::": false,
		"3fff::1": false, "5f00::1": false, "fc00::1": false, "fdff::1": false, "fe80::1": false, "fec0::1": false, "ff02::1": false, "::ffff:192.168.0.1": false,
		"::10.0.0.1": false, "2606:4700::1111": true, "2a00:1450::1": true, "2001:4860:4860::8888": true, "::ffff:1.1.1.1": true,
	} {
		host := text
		if strings.Contains(text, ":") {
			host = "[" + text + "]"
		}
		if err := webhooks.CheckURL("https://"+host+"/", webhooks.Networks{}); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A name is resolved for each connection: one that had an allowed address is refused when
// it has another one as well, and the answer says nothing of it.
func TestANameThatResolvesToLoopbackLater(t *testing.T) {
	t.Parallel()
	var requests, lookups atomic.Int32
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.Header().Set("Connection", "close")
		w.Write([]byte("internal secrets")) //nolint:errcheck // the test fails otherwise
	}))
	t.Cleanup(server.Close)
	local := netip.MustParseAddrPort(server.Listener.Addr().String())
	w := newWorld(t)
	c := w.config()
	c.Networks = networks(t, "127.0.0.1/32")
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	c.TLS = &tls.Config{RootCAs: roots, ServerName: "example.com"}
	answers := [][]netip.Addr{
		{local.Addr()},
		{local.Addr(), netip.MustParseAddr("127.0.0.2")},
		{netip.MustParseAddr("::ffff:127.0.0.2")},
		{netip.MustParseAddr("1.1.1.1"), netip.MustParseAddr("10.0.0.1")},
		{},
	}
	c.Resolve = func(context.Context, string) ([]netip.Addr, error) {
		i := int(lookups.Add(1)) - 1
		if i >= len(answers) {
			return nil, errors.New("no such host internal.corp on 10.0.0.53")
		}
		return answers[i], nil
	}
	d := webhooks.New(c)
	sub := subscription("https://example.com:" + strings.Split(server.Listener.Addr().String(), ":")[1] + "/")
	for i := range len(answers) + 1 {
		a, err := d.Test(t.Context(), sub)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if a.Outcome != webhooks.Delivered || a.Excerpt != "" { // the network is allowed, and not public
				t.Errorf("the allowed address: %+v", a)
			}
			continue
		}
		if a.Outcome != webhooks.Failed || a.Status != 0 || a.Error != "the receiver has no public address" || a.Excerpt != "" {
			t.Errorf("lookup %d: %+v", i, a)
		}
	}
	if requests.Load() != 1 || lookups.Load() != int32(len(answers)+1) {
		t.Errorf("%d requests, %d lookups", requests.Load(), lookups.Load())
	}
}
