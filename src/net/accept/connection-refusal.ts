/** Why an accepted connection was closed before it was served. The names are public: log and metrics use them. */
export type ConnectionRefusal =
  | 'proxy-header-missing'
  | 'proxy-header-malformed'
  | 'proxy-header-version'
  | 'proxy-header-timeout'
  | 'client-hello-malformed'
  | 'plain-http'
  | 'server-name-unknown'
  | 'certificate-missing'
  | 'handshake-failed'
  | 'handshake-timeout'
  | 'client-certificate-invalid'
