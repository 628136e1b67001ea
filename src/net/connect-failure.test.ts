import { expect, test } from 'vitest'
import { connectFailure } from './connect-failure.ts'

const errors: readonly (readonly [error: object, code: string, detail: string])[] = [
  [{ code: 'ECONNREFUSED', message: 'connect ECONNREFUSED ::1:1' }, 'connection-refused', '::1:1'],
  [{ code: 'ETIMEDOUT', message: 'connect ETIMEDOUT 192.0.2.1:1' }, 'connect-timeout', '192.0.2.1:1'],
  [
    { code: 'ENOENT', message: 'connect ENOENT /nowhere', address: '/nowhere' },
    'connection-refused',
    'the socket does not exist: /nowhere',
  ],
  [
    { code: 'ENOTDIR', message: 'connect ENOTDIR /etc/hosts/x', address: '/etc/hosts/x' },
    'connection-refused',
    'the socket does not exist: /etc/hosts/x',
  ],
  [
    { code: 'EACCES', message: 'connect EACCES /run/a', address: '/run/a' },
    'connection-refused',
    'the gateway is not permitted to open the socket: /run/a',
  ],
  [
    { code: 'ECONNREFUSED', message: 'connect ECONNREFUSED /run/a', address: '/run/a' },
    'connection-refused',
    'no server listens on the socket: /run/a',
  ],
  [
    { code: 'EACCES', message: 'connect EACCES 192.0.2.1:1', address: '192.0.2.1' },
    'connection-refused',
    'connect EACCES 192.0.2.1:1',
  ],
  [
    {
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
      message: 'self-signed certificate; if the root CA is installed locally, try running Node.js with --use-system-ca',
    },
    'certificate-untrusted',
    'self-signed certificate',
  ],
  [
    {
      code: 'ERR_SSL_WRONG_VERSION_NUMBER',
      reason: 'wrong version number',
      message:
        'C0A6FFD6:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:../tlsany_meth.c:78:\n',
    },
    'handshake-failed',
    'wrong version number',
  ],
]

for (const [error, code, detail] of errors) {
  test(`detail for operators: ${detail}`, () => {
    expect(connectFailure(Object.assign(new Error(), error), true)).toEqual({ code, detail })
  })
}
