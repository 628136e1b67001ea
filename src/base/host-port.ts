/** `127.0.0.1:8080`, `[::1]:8080`, `example.com:8080` (RFC 3986, 3.2.2). */
export function hostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
