import { defineSetting } from '../../policy.ts'
import { compileProxyProtocol } from './compile.ts'

export type { ProxyProtocolSetting } from './compile.ts'

export const proxyProtocol = defineSetting({
  section: 'frontend',
  field: 'proxyProtocol',
  merge: 'replace',
  compile: compileProxyProtocol,
})
