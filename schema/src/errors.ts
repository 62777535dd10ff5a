import Type, { type Static } from 'typebox'

/** One problem of a request. Further members depend on the code: limits, allowed values, a fresh quote. */
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

/** Every answer with a status of 400 or more. The first three members are the interface's; the others are additive. */
export const ErrorBody = Type.Object(
  {
    message: Type.String({ description: 'One sentence for the developer.', examples: ['no API key was sent'] }),
    error: Type.String({ description: 'Reason phrase of the status.', examples: ['Unauthorized'] }),
    statusCode: Type.Integer({ minimum: 400, maximum: 599, description: 'The status of the answer.', examples: [401] }),
    code: Type.String({
      pattern: '^[A-Z][A-Z_]*$',
      description: 'Stable code; the page /docs/errors of this server lists all, with what to do.',
      examples: ['API_KEY_MISSING'],
    }),
    requestId: Type.String({ description: 'Also in the header X-Request-Id. Quote it when you ask us.' }),
    errors: Type.Array(Problem, { description: 'All problems of the request at once.' }),
  },
  { description: 'An error.' },
)
export type ErrorBody = Static<typeof ErrorBody>
