package main

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// deviceGrant is the grant_type of a device (RFC 8628 section 3.4).
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

const (
	deviceLasts    = 10 * time.Minute
	deviceInterval = time.Second // between two polls
)

// What the user of a device has decided.
const (
	allowed = "allowed"
	refused = "refused"
)

// deviceError is why a device gets no tokens (RFC 8628 section 3.5).
type deviceError string

func (e deviceError) Error() string { return "the device gets no tokens: " + string(e) }

// beginDevice gives a device its code, and the code that its user enters (RFC 8628 section 3.2).
func (p provider) beginDevice(w http.ResponseWriter, r *http.Request) {
	if r.PostFormValue("client_id") == "" {
		refuseToken(w, "invalid_client", deviceError("invalid_client"))
		return
	}
	user := rand.Text()[:8]
	code, err := p.grants.add(grant{
		Login: rand.Text(), Client: r.PostFormValue("client_id"), Scope: r.PostFormValue("scope"), UserCode: user, Ends: p.now().Add(deviceLasts),
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	shown := user[:4] + "-" + user[4:]
	writeJSON(w, http.StatusOK, map[string]any{
		"device_code": code, "user_code": shown, "verification_uri": p.base + "/device",
		"verification_uri_complete": p.base + "/device?user_code=" + shown,
		"expires_in":                int(deviceLasts.Seconds()), "interval": int(deviceInterval.Seconds()),
	})
}

// askDevice shows the page on which the user of a device chooses who logs in.
func (p provider) askDevice(w http.ResponseWriter, r *http.Request) {
	code := r.URL.Query().Get("user_code")
	data := pageData{Title: "Log in a device", EntersCode: code == ""}
	if code != "" {
		data.Action, data.Request, data.People, data.Account = "/device", url.Values{"user_code": {code}}, people(), defaultAccount
		data.Client = "the device that shows " + code
	}
	show(w, http.StatusOK, data)
}

// decideDevice stores what the user of a device has decided, once.
func (p provider) decideDevice(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	decision, of := refused, grant{}
	if r.PostForm.Get("refuse") == "" {
		var ok bool
		if of, ok = chosen(w, r.PostForm); !ok {
			return
		}
		decision = allowed
	}
	code := strings.ToUpper(strings.ReplaceAll(r.PostForm.Get("user_code"), "-", ""))
	found := false
	err := p.grants.change(func(all map[string]grant) error {
		for key, device := range all {
			if device.UserCode == code && code != "" && device.Decision == "" {
				device.User, device.Account, device.Roles, device.Lifetime = of.User, of.Account, of.Roles, of.Lifetime
				device.Decision, found = decision, true
				all[key] = device
			}
		}
		return nil
	})
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case !found:
		show(w, http.StatusBadRequest, pageData{Title: "No login", Message: "No device waits with this code."})
	default:
		show(w, http.StatusOK, pageData{Title: "Done", Message: "The device goes on by itself."})
	}
}

// device returns what the user of a device has allowed, once.
func (p provider) device(code, client string) (grant, error) {
	return p.grants.use(code, func(of grant) error {
		switch {
		case of.UserCode == "" || of.Client != client:
			return errGrant
		case of.Decision == allowed:
			return nil
		case of.Decision == refused:
			return deviceError("access_denied")
		}
		return deviceError("authorization_pending")
	})
}
