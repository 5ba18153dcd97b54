package login

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
)

// errorPage is what a person sees of a login that failed.
const errorPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{.Title}}</title>
</head>
<body>
<h1>{{.Title}}</h1>
<p>{{.Message}}</p>
<p><a href="{{.Home}}login">Log in again</a></p>
</body>
</html>
`

// ErrorPage returns the page of an error of a login.
func (l *Login) ErrorPage(status int, message string) []byte {
	var page bytes.Buffer
	data := struct{ Title, Message, Home string }{fmt.Sprintf("%d %s", status, http.StatusText(status)), message, l.home()}
	if err := template.Must(template.New("error").Parse(errorPage)).Execute(&page, data); err != nil {
		return []byte(message) // the template is right, and a buffer takes everything
	}
	return page.Bytes()
}
