import { defineSetting } from '../../policy.ts'
import { adviseRawAddress } from './advise.ts'
import { compileProxyProtocol } from './compile.ts'
import { frontendProxyProtocol } from './schema.ts'

export type { ProxyProtocolSetting } from './compile.ts'

export const proxyProtocol = defineSetting({
  section: 'frontend',
  field: 'proxyProtocol',
  schema: frontendProxyProtocol,
  merge: 'replace',
  together: { with: 'networkAuthorization', advise: adviseRawAddress },
  compile: compileProxyProtocol,
})
