package webhooks

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Networks are networks that are not public and may have receivers nevertheless, for
// development and tests. Only there a receiver may have http. The zero Networks has none.
type Networks struct{ all []netip.Prefix }

// ParseNetworks reads networks in CIDR notation.
func ParseNetworks(texts []string) (Networks, error) {
	var n Networks
	for _, one := range texts {
		network, err := netip.ParsePrefix(strings.TrimSpace(one))
		if err != nil || network.Addr().Is4In6() {
			return Networks{}, fmt.Errorf("%q is not a network such as 127.0.0.0/8", one)
		}
		n.all = append(n.all, network.Masked())
	}
	return n, nil
}

func (n Networks) has(at netip.Addr) bool {
	return slices.ContainsFunc(n.all, func(network netip.Prefix) bool { return network.Contains(at) })
}

// maxURL is the largest length of a receiver's URL in bytes.
const maxURL = 2048

// CheckURL refuses a URL to which no webhook can be sent: it must be https, without
// credentials and fragment, with port 443 or from 1024 on, and an address in it must be
// public. Names are resolved at each delivery. In the networks that are allowed it may
// be http, with port 80 too.
func CheckURL(raw string, allowed Networks) error {
	u, err := url.Parse(raw)
	if err != nil || len(raw) > maxURL || u.Opaque != "" || u.Hostname() == "" || !ascii(u.Host) {
		return fmt.Errorf("the URL must look like https://host/path, in ASCII and at most %d bytes", maxURL)
	}
	plain := u.Scheme == "http" && len(allowed.all) > 0
	switch {
	case u.Scheme != "https" && !plain:
		return errors.New("the URL must begin with https://")
	case u.User != nil || strings.Contains(raw, "#"):
		return errors.New("the URL must have no credentials and no fragment")
	}
	if port := u.Port(); port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n < 1024 && n != 443 && !(n == 80 && plain) {
			return fmt.Errorf("port %s of the URL must be 443 or from 1024 on", port)
		}
	} else if strings.HasSuffix(u.Host, ":") {
		return errors.New("the URL has a colon without a port")
	}
	if at, err := netip.ParseAddr(u.Hostname()); err == nil && !allowed.admits(at, plain) {
		return errors.New("the address in the URL is not public")
	}
	return nil
}

func ascii(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// admits reports whether a webhook may be sent to an address; plain is without TLS.
func (n Networks) admits(at netip.Addr, plain bool) bool {
	at = at.Unmap()
	return at.Zone() == "" && (n.has(at) || !plain && public(at))
}

// special lists the networks below those of public() that are not public, by the
// registries of special-purpose addresses of IANA (RFC 6890): of this host, private,
// shared (CGNAT), link-local, of protocols and relays, documentation, benchmarks,
// multicast and reserved.
var special = prefixes( //nolint:gochecknoglobals // a constant list
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
	"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
)

// global is the only part of IPv6 with public addresses. Addresses that contain one of
// IPv4, as of NAT64, are outside of it or special.
var global = netip.MustParsePrefix("2000::/3") //nolint:gochecknoglobals // a constant

// public reports whether an address is one of the public Internet.
func public(at netip.Addr) bool {
	if !at.IsValid() || at.Is6() && !global.Contains(at) {
		return false
	}
	return !slices.ContainsFunc(special, func(network netip.Prefix) bool { return network.Contains(at) })
}

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}
