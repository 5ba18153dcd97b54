package objects_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"netsim/infra/objects"
	"netsim/internal/teststack"
)

// roles hands out temporary credentials as AWS does, and is an S3 store that takes only
// those, before they end. It checks every signature and passes the request, signed with the
// keys of the real store, on to it.
type roles struct {
	t     *testing.T
	store teststack.ObjectStore
	pass  *httputil.ReverseProxy

	mu    sync.Mutex
	given []aws.Credentials
	life  time.Duration // of those that are given next
}

func newRoles(t *testing.T) (*roles, *httptest.Server) {
	t.Helper()
	r := &roles{t: t, store: teststack.Objects(t), life: time.Hour}
	to, err := url.Parse(r.store.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	r.pass = &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(to); r.sign(p.Out) }}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /container", r.container)
	mux.HandleFunc("PUT /latest/api/token", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "600")
		io.WriteString(w, "imds")
	})
	mux.HandleFunc("GET /latest/meta-data/iam/security-credentials/", func(w http.ResponseWriter, q *http.Request) {
		if strings.HasSuffix(q.URL.Path, "/netsim") {
			r.container(w, q)
			return
		}
		io.WriteString(w, "netsim")
	})
	mux.HandleFunc("POST /sts", r.assume)
	mux.HandleFunc("/"+r.store.Bucket, r.serve)
	mux.HandleFunc("/"+r.store.Bucket+"/", r.serve)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return r, server
}

// give returns new credentials.
func (r *roles) give() aws.Credentials {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.given) + 1
	c := aws.Credentials{
		AccessKeyID: fmt.Sprintf("ASIA%d", n), SecretAccessKey: fmt.Sprintf("secret-%d", n), SessionToken: fmt.Sprintf("session-%d", n),
		CanExpire: true, Expires: time.Now().Add(r.life).UTC().Truncate(time.Second),
	}
	r.given = append(r.given, c)
	return c
}

func (r *roles) lives(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.life = d
}

func (r *roles) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.given)
}

func (r *roles) container(w http.ResponseWriter, q *http.Request) {
	if q.URL.Path == "/container" && q.Header.Get("Authorization") != "pod" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	c := r.give()
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]string{
		"Code": "Success", "AccessKeyId": c.AccessKeyID, "SecretAccessKey": c.SecretAccessKey, "Token": c.SessionToken,
		"Expiration": c.Expires.Format(time.RFC3339),
	})
}

// assume answers AssumeRoleWithWebIdentity.
func (r *roles) assume(w http.ResponseWriter, q *http.Request) {
	if q.FormValue("Action") != "AssumeRoleWithWebIdentity" || q.FormValue("WebIdentityToken") != "identity" || q.FormValue("RoleArn") != "arn:aws:iam::1:role/netsim" {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	c := r.give()
	w.Header().Set("Content-Type", "text/xml")
	fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>
<AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey><SessionToken>%s</SessionToken><Expiration>%s</Expiration>
</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
		c.AccessKeyID, c.SecretAccessKey, c.SessionToken, c.Expires.Format(time.RFC3339))
}

// serve checks the signature and passes the request on.
func (r *roles) serve(w http.ResponseWriter, q *http.Request) {
	if why := r.refuse(q); why != "" {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, "<Error><Code>AccessDenied</Code><Message>%s</Message></Error>", why)
		return
	}
	r.pass.ServeHTTP(w, q)
}

// refuse returns why a request is refused, or "". It signs what the client signed once more
// and compares the signatures.
func (r *roles) refuse(q *http.Request) string {
	query := q.URL.Query()
	presigned := query.Get("X-Amz-Signature") != ""
	scope, signature, token, at := "", "", q.Header.Get("X-Amz-Security-Token"), q.Header.Get("X-Amz-Date")
	signed := strings.Split(query.Get("X-Amz-SignedHeaders"), ";")
	if presigned {
		scope, signature, token, at = query.Get("X-Amz-Credential"), query.Get("X-Amz-Signature"), query.Get("X-Amz-Security-Token"), query.Get("X-Amz-Date")
	} else {
		parts := map[string]string{}
		for _, part := range strings.Split(strings.TrimPrefix(q.Header.Get("Authorization"), "AWS4-HMAC-SHA256 "), ", ") {
			name, value, _ := strings.Cut(part, "=")
			parts[name] = value
		}
		scope, signature, signed = parts["Credential"], parts["Signature"], strings.Split(parts["SignedHeaders"], ";")
	}
	id, _, _ := strings.Cut(scope, "/")
	used, known := r.find(id)
	when, err := time.Parse("20060102T150405Z", at)
	switch {
	case err != nil || !known:
		return "unknown credentials"
	case token != used.SessionToken:
		return "another session token"
	case !time.Now().Before(used.Expires):
		return "the credentials have ended"
	}
	again, err := http.NewRequest(q.Method, "http://"+q.Host+q.URL.RequestURI(), nil)
	if err != nil {
		return err.Error()
	}
	for _, name := range signed {
		if values := q.Header.Values(name); len(values) > 0 && name != "x-amz-security-token" && name != "x-amz-date" {
			again.Header[http.CanonicalHeaderKey(name)] = values
		}
		if name == "content-length" {
			again.ContentLength = q.ContentLength
		}
	}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if !presigned {
		if err := signer.SignHTTP(q.Context(), used, again, q.Header.Get("X-Amz-Content-Sha256"), "s3", r.store.Region, when); err != nil {
			return err.Error()
		}
		if !strings.HasSuffix(again.Header.Get("Authorization"), "Signature="+signature) {
			return "another signature"
		}
		return ""
	}
	for name := range query {
		if name == "X-Amz-Signature" || name == "X-Amz-Credential" || name == "X-Amz-Date" || name == "X-Amz-Algorithm" || name == "X-Amz-SignedHeaders" || name == "X-Amz-Security-Token" {
			delete(query, name)
		}
	}
	again.URL.RawQuery = query.Encode()
	link, _, err := signer.PresignHTTP(q.Context(), used, again, "UNSIGNED-PAYLOAD", "s3", r.store.Region, when)
	if err != nil {
		return err.Error()
	}
	if !strings.HasSuffix(link, "X-Amz-Signature="+signature) {
		return "another signature"
	}
	return ""
}

func (r *roles) find(id string) (aws.Credentials, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.given {
		if c.AccessKeyID == id {
			return c, true
		}
	}
	return aws.Credentials{}, false
}

// sign replaces the client's signature by one with the real store's keys.
func (r *roles) sign(q *http.Request) {
	query := q.URL.Query()
	for name := range query {
		if strings.HasPrefix(name, "X-Amz-") {
			delete(query, name)
		}
	}
	q.URL.RawQuery, q.Host = query.Encode(), q.URL.Host
	hash := q.Header.Get("X-Amz-Content-Sha256")
	if hash == "" {
		hash = "UNSIGNED-PAYLOAD"
	}
	for name := range q.Header {
		if name == "Authorization" || name == "Accept-Encoding" || name == "X-Forwarded-For" || strings.HasPrefix(name, "X-Amz-") && (name == "X-Amz-Security-Token" || name == "X-Amz-Date") {
			delete(q.Header, name)
		}
	}
	q.Header.Set("X-Amz-Content-Sha256", hash)
	own := aws.Credentials{AccessKeyID: r.store.AccessKey, SecretAccessKey: r.store.SecretKey}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err := signer.SignHTTP(context.Background(), own, q, hash, "s3", r.store.Region, time.Now()); err != nil {
		r.t.Error(err)
	}
}

// role sets the environment of a process without any credentials, with changes. Its tests
// cannot run in parallel.
func role(t *testing.T, r *roles, server *httptest.Server, changes map[string]string) *objects.Store {
	t.Helper()
	none := filepath.Join(t.TempDir(), "none")
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": none, "AWS_SHARED_CREDENTIALS_FILE": none,
		"AWS_WEB_IDENTITY_TOKEN_FILE": "", "AWS_ROLE_ARN": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "",
		"AWS_CONTAINER_AUTHORIZATION_TOKEN": "", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "",
		"AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:1", "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
	for name, value := range changes {
		t.Setenv(name, value)
	}
	return objects.New(objects.Config{Endpoint: server.URL, Region: r.store.Region, Bucket: r.store.Bucket})
}

// TestRoles: without keys in the settings, a store takes the credentials of each kind of
// role, and renews them before they end. Nothing fails meanwhile.
func TestRoles(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("identity"), 0o600); err != nil {
		t.Fatal(err)
	}
	pod := filepath.Join(t.TempDir(), "pod")
	if err := os.WriteFile(pod, []byte("pod"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, environment := range map[string]func(url string) map[string]string{
		"web identity": func(url string) map[string]string {
			return map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ROLE_ARN": "arn:aws:iam::1:role/netsim", "AWS_ENDPOINT_URL_STS": url + "/sts"}
		},
		"pod identity": func(url string) map[string]string {
			return map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": url + "/container", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": pod}
		},
		"instance": func(url string) map[string]string {
			return map[string]string{"AWS_EC2_METADATA_SERVICE_ENDPOINT": url, "AWS_EC2_METADATA_DISABLED": "false"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, server := newRoles(t)
			s := role(t, r, server, environment(server.URL))
			r.lives(4 * time.Minute) // less than the time before the end when they are renewed
			put(t, s, "a/b c+d", "content")
			given := r.count()
			r.lives(time.Hour)
			if _, err := s.Head(t.Context(), "a/b c+d"); err != nil {
				t.Fatal(err)
			}
			// The SDK keeps an instance's credentials that end soon for longer, so that a
			// failure of the metadata service does not matter.
			if name != "instance" && r.count() <= given {
				t.Error("credentials that end soon were not renewed")
			}
			given = r.count()
			for range 3 {
				if _, err := s.Head(t.Context(), "a/b c+d"); err != nil {
					t.Fatal(err)
				}
			}
			if r.count() != given {
				t.Errorf("credentials that last were renewed %d times", r.count()-given)
			}
		})
	}
}

// TestLinksEndWithTheirCredentials: a link that temporary credentials signed works, and says
// that it ends when they do.
func TestLinksEndWithTheirCredentials(t *testing.T) {
	r, server := newRoles(t)
	s := role(t, r, server, map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": server.URL + "/container", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "pod"})
	r.lives(10 * time.Minute)
	put(t, s, "file", "content")
	link, err := s.PresignGet(t.Context(), "file", "file", "text/plain", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if end := r.given[len(r.given)-1].Expires; !link.Expires.Equal(end) {
		t.Errorf("the link ends at %v, want %v, when the credentials end", link.Expires, end)
	}
	short, err := s.PresignGet(t.Context(), "file", "file", "text/plain", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if !short.Expires.Before(link.Expires) {
		t.Errorf("a link of a minute ends at %v", short.Expires)
	}
	reply, err := http.Get(link.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if content, err := io.ReadAll(reply.Body); err != nil || string(content) != "content" {
		t.Errorf("the link gives %d %q, %v", reply.StatusCode, content, err)
	}
}

// TestNoRole: without keys and without a role the error says so.
func TestNoRole(t *testing.T) {
	r, server := newRoles(t)
	s := role(t, r, server, nil)
	if err := s.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), "no access key is set, and no role gives one") {
		t.Errorf("got %v", err)
	}
}
