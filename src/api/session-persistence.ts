import {
  cookieName,
  defaulted,
  duration,
  enumOf,
  fieldPath,
  openObject,
  optional,
  problem,
  withRule,
} from '#schema/index.ts'

/** `sessionPersistence` of a route rule (Gateway API, SessionPersistence). */
export const sessionPersistence = withRule(
  openObject({
    sessionName: optional(
      // The name of a header is a token as well.
      cookieName(128),
      'Name of the cookie or header. When unset, a cookie has a name of its own for each rule, and the header is "gatewright-session".',
    ),
    absoluteTimeout: optional(duration(), 'Time from the first request of a session to its end.'),
    idleTimeout: optional(duration(), 'Time from the last request of a session to its end.'),
    type: defaulted(enumOf('Cookie', 'Header'), 'Cookie', 'How clients send their session.'),
    cookieConfig: optional(
      openObject({
        lifetimeType: defaulted(
          enumOf('Session', 'Permanent'),
          'Session',
          'Session: clients keep the cookie until they are closed. Permanent: they keep it for absoluteTimeout.',
        ),
      }),
      'Settings for type Cookie.',
    ),
  }),
  {
    reads: ['cookieConfig'],
    description: 'absoluteTimeout is required if lifetimeType is Permanent.',
    check: ({ cookieConfig, absoluteTimeout }, path) =>
      cookieConfig?.lifetimeType === 'Permanent' && absoluteTimeout === undefined
        ? [
            problem(
              fieldPath(path, 'absoluteTimeout'),
              'required',
              'is required if cookieConfig.lifetimeType is Permanent',
            ),
          ]
        : [],
  },
)
