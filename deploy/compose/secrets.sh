#!/bin/sh
# Makes the secrets of the Compose file, each once: secrets.sh [DIRECTORY]. netsim must be
# in PATH.
set -eu
dir=${1:-$(dirname "$0")/secrets}
umask 077
mkdir -p "$dir"
cd "$dir"
make() { # FILE makes FILE from standard input unless it exists
	[ -e "$1" ] || cat >"$1"
}
[ -e postgres-password ] || openssl rand -hex 16 >postgres-password
[ -e writer-keys ] || openssl rand -hex 32 >writer-keys
[ -e audit-key ] || netsim audit key --make audit-key >audit.pub
[ -e s3-access-key ] || openssl rand -hex 10 >s3-access-key
[ -e s3-secret-key ] || openssl rand -hex 20 >s3-secret-key
echo "postgres://netsim:$(cat postgres-password)@postgres:5432/netsim" | make postgres
printf 'ROOT_ACCESS_KEY=%s\nROOT_SECRET_KEY=%s\n' "$(cat s3-access-key)" "$(cat s3-secret-key)" | make s3.env
printf 'KC_BOOTSTRAP_ADMIN_USERNAME=admin\nKC_BOOTSTRAP_ADMIN_PASSWORD=%s\nNETSIM_CLIENT_SECRET=%s\n' \
	"$(openssl rand -hex 16)" "$(openssl rand -hex 16)" | make keycloak.env
printf 'NETSIM_DEVELOPER_PASSWORD=%s\nNETSIM_OPERATOR_PASSWORD=%s\n' \
	"$(openssl rand -hex 8)" "$(openssl rand -hex 8)" | make people.env
# The processes run as another user, which must read its secrets.
chmod 644 postgres writer-keys audit-key s3-access-key s3-secret-key postgres-password
