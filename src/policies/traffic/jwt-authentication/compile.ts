import type { CompileContext, PolicySource, RequestRun } from '../../policy.ts'
import { compileJwt, type JwtSettings } from '../../shared/jwt/compile-jwt.ts'
import { compileSignIn } from '../../shared/sign-in/compile-sign-in.ts'
import type { JwtAuthenticationSpec } from './schema.ts'

type Source = PolicySource<JwtAuthenticationSpec>

export function compileJwtAuthentication(sources: readonly Source[], context: CompileContext): RequestRun {
  const source = sources[0]!
  return compileJwt(source, settingsOf(source, context), context)
}

function settingsOf(source: Source, context: CompileContext): JwtSettings {
  const { spec } = source
  const { mode, location, providers, mcp } = spec
  const at = (index: number) => `.providers[${index}]`
  return {
    mode,
    location,
    key: spec,
    providers: providers.map(({ issuer, audiences, jwks }, index) => {
      const jwksPath = `${at(index)}.jwks.${jwks.remote === undefined ? 'inline' : 'remote'}`
      return { issuer, audiences, jwks, path: at(index), jwksPath }
    }),
    signIn:
      mcp &&
      compileSignIn(
        source,
        {
          key: spec,
          path: '.mcp',
          ownPath: '',
          issuers: providers.map(({ issuer }) => issuer),
          audience: providers[0]!.audiences?.[0],
          jwks: providers[0]!.jwks.remote,
          ...mcp,
        },
        context,
      ),
  }
}
