/** PEM as a YAML block scalar, indented by `indent`. */
export function pemBlock(text: string, indent: string): string {
  const lines = text.trim().split('\n')
  return `|\n${lines.map((line) => `${indent}${line}`).join('\n')}`
}

/** A Secret with a certificate and its key. */
export function tlsSecretYaml(name: string, { cert, key }: { readonly cert: string; readonly key: string }): string {
  return `
apiVersion: v1
kind: Secret
metadata: { name: ${name} }
type: kubernetes.io/tls
stringData:
  tls.crt: ${pemBlock(cert, '    ')}
  tls.key: ${pemBlock(key, '    ')}
`
}

/** A ConfigMap with authorities. */
export function authoritiesYaml(name: string, pem: string): string {
  return `
apiVersion: v1
kind: ConfigMap
metadata: { name: ${name} }
data:
  ca.crt: ${pemBlock(pem, '    ')}
`
}
