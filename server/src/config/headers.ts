import Type from 'typebox'

/** Headers of requests to a server of the operator's choice, by name. The values are secrets. */
export const headers = (description?: string) =>
  Type.Record(
    Type.String(),
    Type.String({ pattern: '^[\\x20-\\x7e]{1,4096}$', secret: true }),
    description === undefined ? {} : { description },
  )

/** A field name of HTTP (RFC 9110, 5.1), except those that the connection and the body decide. */
const NAME = /^(?!(connection|content-length|content-type|host|transfer-encoding)$)[a-z0-9-]{1,64}$/i

/** Each name that cannot be set, as a problem. */
export const findWrongNames = (path: string, given: Readonly<Record<string, string>>): readonly string[] =>
  Object.keys(given)
    .filter((name) => !NAME.test(name))
    .map((name) => `${path}.${name.slice(0, 64)} is not a name of a header that can be set`)
