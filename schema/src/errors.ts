import Type, { type Static } from 'typebox'

/** One problem of a request. Further members depend on the code, for example limits, allowed values or a new quote. */
export const Problem = Type.Object(
  {
    code: Type.String({
      pattern: '^[A-Z][A-Z_]*$',
      description: 'Stable code of this problem.',
      examples: ['AMOUNT_BELOW_MIN'],
    }),
    field: Type.Optional(
      Type.String({ description: 'Name of the parameter or body field.', examples: ['fromAmount'] }),
    ),
    message: Type.Optional(Type.String({ description: 'One sentence for the developer.' })),
  },
  { additionalProperties: true, description: 'One problem of a request.' },
)
export type Problem = Static<typeof Problem>

/**
 * Body of every response with a status of 400 or more. The first three members are in the specification; the others are
 * additive.
 */
export const ErrorBody = Type.Object(
  {
    message: Type.String({ description: 'One sentence for the developer.', examples: ['no API key was sent'] }),
    error: Type.String({ description: 'Reason phrase of the status.', examples: ['Unauthorized'] }),
    statusCode: Type.Integer({ minimum: 400, maximum: 599, description: 'The status of the answer.', examples: [401] }),
    code: Type.String({
      pattern: '^[A-Z][A-Z_]*$',
      description: 'Stable code. The page /docs/errors of this server lists every code and what to do about it.',
      examples: ['API_KEY_MISSING'],
    }),
    requestId: Type.String({
      description: 'The same id as in the header X-Request-Id. Include it in support requests.',
    }),
    errors: Type.Array(Problem, { description: 'All problems of the request.' }),
  },
  { description: 'An error.' },
)
export type ErrorBody = Static<typeof ErrorBody>
