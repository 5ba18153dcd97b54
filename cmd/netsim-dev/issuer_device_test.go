package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestIssuerLogsInADevice: a device waits until its user has chosen, and gets tokens once
// (RFC 8628). One whose user refuses gets none.
func TestIssuerLogsInADevice(t *testing.T) {
	t.Parallel()
	i := newTestIssuer(t)
	begin := func() (device, user string) {
		t.Helper()
		_, text := i.post("/device_authorization", url.Values{"client_id": {"netsim-console"}, "scope": {"openid offline_access"}})
		var got struct {
			Device   string `json:"device_code"`
			User     string `json:"user_code"`
			Complete string `json:"verification_uri_complete"`
			Lasts    int    `json:"expires_in"`
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Lasts != 600 || got.Complete != i.URL+"/device?user_code="+got.User {
			t.Fatalf("%v: %s", err, text)
		}
		return got.Device, got.User
	}
	poll := func(device string, pairs ...string) given {
		t.Helper()
		return i.token(append([]string{"grant_type", deviceGrant, "device_code", device}, pairs...)...)
	}
	device, user := begin()
	if got := poll(device); got.Error != "authorization_pending" {
		t.Errorf("before a decision the device gets %v", got)
	}
	if _, page := i.get("/device?user_code=" + user); !strings.Contains(page, ">developer<") || !strings.Contains(page, user) {
		t.Errorf("the page is %s", page)
	}
	if _, page := i.get("/device"); !strings.Contains(page, `name="user_code"`) {
		t.Errorf("without a code the page is %s", page)
	}
	form := url.Values{"user_code": {strings.ToLower(user)}, "user": {"ada"}, "roles": {"billing"}}
	if answer, text := i.post("/device", form); answer.StatusCode != http.StatusOK {
		t.Errorf("%s %s", answer.Status, text)
	}
	for name, wrong := range map[string]url.Values{"decided": form, "unknown": {"user_code": {"AAAA-AAAA"}, "user": {"ada"}}, "none": {"user": {"ada"}}} {
		if answer, _ := i.post("/device", wrong); answer.StatusCode != http.StatusBadRequest {
			t.Errorf("a code that is %s: %s", name, answer.Status)
		}
	}
	if got := poll(device, "client_id", "other"); got.Error != "invalid_grant" {
		t.Errorf("another client gets %v", got)
	}
	tokens := poll(device)
	if access := i.claims(tokens.Access); access["sub"] != "ada" || i.claims(tokens.ID)["aud"] != "netsim-console" {
		t.Errorf("the access token is %v", access)
	}
	if got := i.refresh(tokens.Refresh); got.Error != "" || i.claims(got.Access)["sub"] != "ada" {
		t.Errorf("the refresh gives %v", got)
	}
	if got := poll(device); got.Error != "invalid_grant" {
		t.Errorf("the second use of the code gives %v", got)
	}
	device, user = begin()
	i.post("/device", url.Values{"user_code": {user}, "refuse": {"true"}})
	if got := poll(device); got.Error != "access_denied" {
		t.Errorf("after a refusal the device gets %v", got)
	}
	if got := i.refresh(device); got.Error != "invalid_grant" {
		t.Errorf("a device code as a refresh token gives %v", got)
	}
	if got := i.redeem(device); got.Error != "invalid_grant" {
		t.Errorf("a device code as a code gives %v", got)
	}
}
