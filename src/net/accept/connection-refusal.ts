/** Why an accepted connection was closed before anything was served on it. Names are public: log and metrics show them. */
export type ConnectionRefusal =
  | 'proxy-header-missing'
  | 'proxy-header-malformed'
  | 'proxy-header-version'
  | 'proxy-header-timeout'
  | 'client-hello-malformed'
  | 'server-name-unknown'
  | 'handshake-failed'
  | 'handshake-timeout'
  | 'client-certificate-invalid'
