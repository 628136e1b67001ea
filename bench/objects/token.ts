/**
 * RS256, key `bench-1` of `policies.yaml`, valid until the end of 2099. Claims: `iss` https://id.bench.test, `aud` bench, `sub` load-1,
 * `group` load.
 */
export const TOKEN =
  'eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImJlbmNoLTEifQ.eyJpc3MiOiJodHRwczovL2lkLmJlbmNoLnRlc3QiLCJzdWIiOiJsb2FkLTEiLCJhdWQiOiJiZW5jaCIsImlhdCI6MTc2NzIyNTYwMCwiZXhwIjo0MTAyNDQ0ODAwLCJncm91cCI6ImxvYWQifQ.BXMinnQNlzt2dDTKgGf6cgda0RWlft25sUd23dnwp2VK3G76mODn7tjlLT6Isf5b1QzvcoRe3JH5RQjMPJJ2nsUJF2glxZeQylWPCutIV3QAsFdFfFB06V0WGvBm2o82EQNvMqqvo_Qo6GAafKUOBATbhsBeDNP843F3rBt4PILMSg_PVf6nJrv1hmYUn3kbSCdObXqWaV-tE7cbBfg7_CNM-QCEN1tSCA5vbdilPaTguehotAeXXGJwxj-bE10jlLUusqw2zbGJu7LzlhsXZnNg0lE6zY76a8iM_e8F1gY_Cia3SuDHMvp635DCJz8yZE8auTdKEZMkWElpDytyww'
