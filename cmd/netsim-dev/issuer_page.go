package main

import (
	"html/template"
	"net/http"
	"net/url"
)

// The accounts of the users on the page.
const (
	defaultAccount = "acct_0000000000e008000000000001" // the default of infra/devissuer
	otherAccount   = "acct_0000000000e008000000000002"
)

// person is a user as whom one can log in.
type person struct {
	Name, Account string
	Roles         []string
	About         string
}

// people are the users on the page. A form beside them logs in under any other name.
func people() []person {
	return []person{
		{Name: "developer", Account: defaultAccount, About: "all workspaces of the default account"},
		{Name: "biller", Account: defaultAccount, Roles: []string{"billing"}, About: "the same, and reads its billing"},
		{Name: "operator", Account: defaultAccount, Roles: []string{"operator"}, About: "the same, and operates the platform"},
		{Name: "neighbour", Account: otherAccount, About: "all workspaces of another account"},
	}
}

// page asks who logs in. What the client asked for is in hidden fields of each form.
var page = template.Must(template.New("login").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{.Title}}</title>
</head>
<body>
<h1>{{.Title}}</h1>
{{with .Message}}<p>{{.}}</p>{{end}}
{{if .EntersCode}}<form action="/device"><p><label>Code of the device <input name="user_code" required></label> <button>Go on</button></p></form>{{end}}
{{if .Action}}
<p>This is the token issuer of a development machine. It asks for no password: {{.Client}} gets tokens of whom you choose.</p>
{{range .People}}<form method="post" action="{{$.Action}}">
{{template "fields" $}}<input type="hidden" name="user" value="{{.Name}}"><input type="hidden" name="account" value="{{.Account}}">
{{range .Roles}}<input type="hidden" name="roles" value="{{.}}">{{end}}
<p><button>{{.Name}}</button> {{.About}}</p>
</form>
{{end}}
<form method="post" action="{{.Action}}">
{{template "fields" .}}
<fieldset>
<legend>Another user</legend>
<p><label>Name <input name="user" required maxlength="255" value="ada"></label></p>
<p><label>Account <input name="account" required maxlength="255" value="{{.Account}}"></label></p>
<p><label><input type="checkbox" name="roles" value="billing"> billing</label> <label><input type="checkbox" name="roles" value="operator"> operator</label></p>
<p><label>Access tokens last, in seconds <input name="lifetime" type="number" min="1" max="86400" value="3600"></label></p>
<p><button>Log in</button></p>
</fieldset>
</form>
<form method="post" action="{{.Action}}">
{{template "fields" .}}
<p><button name="refuse" value="true">Refuse</button> the client gets an error</p>
</form>
{{end}}
</body>
</html>
{{define "fields"}}{{range $name, $values := .Request}}{{range $values}}<input type="hidden" name="{{$name}}" value="{{.}}">{{end}}{{end}}{{end}}
`))

// pageData is what a page shows.
type pageData struct {
	Title, Message  string
	Action          string     // where the forms go; "" for a page without
	Request         url.Values // hidden fields
	People          []person
	Client, Account string
	EntersCode      bool // asks for the code of a device
}

// show sends a page. It has no policy for forms, because the answer to a form leads to the
// client, on another origin.
func show(w http.ResponseWriter, status int, data pageData) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	page.Execute(w, data)
}
