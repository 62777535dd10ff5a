import Type, { type Static, type TSchema } from 'typebox'
import { type AdminAction, adminActions, type OperatorRole, operatorRoles } from './admin-actions.ts'
import { type AdminRead, adminReads } from './admin-reads.ts'
import { openRecord } from './admin-scalars.ts'

/** One operation of the admin API. `open`: without a session. */
export type AdminRoute = Readonly<{
  method: 'GET' | 'POST'
  path: string
  tag: 'Session' | 'Reads' | 'Actions'
  summary: string
  description: string
  role: OperatorRole | 'open'
  query?: TSchema
  body?: TSchema
  success: Readonly<{ status: 200 | 201; description: string; schema: TSchema }>
}>

const text = (description: string, example: string, maxLength = 200) =>
  Type.String({ minLength: 1, maxLength, description, examples: [example] })
const textOrNull = (description: string, example: string | null) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], description, examples: [example] })
const code = Type.Optional(text('Six digits of the authenticator app, or a recovery code.', '123456', 40))
const login = text('Login.', 'ada@example.com', 100)
const password = text('Password, 12 characters or more.', 'correct horse battery', 200)
const challengeId = text('`challengeId` of the options.', '0190a5c4-7d1e-7c3a-9b55-2f6d1c0e8a11', 64)
const closed = <Members extends Readonly<Record<string, TSchema>>>(members: Members) =>
  Type.Object(members, { additionalProperties: false })
const invitationToken = text(
  'Both halves of the token, in any order: that of the operator who asked and that of the one who approved.',
  `${'a'.repeat(32)}.${'b'.repeat(32)}`,
)
/** `cookie` for browsers; `bearer` answers the token for the command line. */
const kind = Type.Optional(
  Type.String({
    enum: ['cookie', 'bearer'],
    default: 'cookie',
    description: 'A cookie, or a token in the answer.',
    examples: ['cookie'],
  }),
)

const Session = Type.Object({
  login,
  role: Type.String({ enum: [...operatorRoles], description: 'Role.', examples: ['treasurer'] }),
  csrf: text('Send it as `X-Swapyard-CSRF` with every POST of a cookie session.', 'q3Jt0…'),
  token: textOrNull('Bearer token; null for a cookie.', null),
  expiresAt: Type.String({
    format: 'date-time',
    description: 'End of the session.',
    examples: ['2026-11-26T23:00:00.000Z'],
  }),
  confirmedUntil: Type.String({
    format: 'date-time',
    description: 'Until then actions that move money need no second factor.',
    examples: ['2026-11-26T11:05:00.000Z'],
  }),
  twoPersons: Type.Boolean({
    description: 'Actions that move money or change limits need a second person.',
    examples: [true],
  }),
  hasSecondFactor: Type.Boolean({
    description: 'You have an authenticator app or a passkey. Without one, the password confirms.',
    examples: [true],
  }),
})
export type AdminSession = Static<typeof Session>
const Done = Type.Object({ ok: Type.Boolean({ description: 'Always true.', examples: [true] }) })
const Options = Type.Object({ challengeId, options: openRecord('Options for the browser’s WebAuthn call.', {}) })
const Invitation = Type.Object({
  login,
  role: text('Role.', 'treasurer'),
  totpUri: text('`otpauth:` URI for the authenticator app.', 'otpauth://totp/Swapyard:ada', 500),
})
const Accepted = Type.Object({
  login,
  recoveryCodes: Type.Array(Type.String({ examples: ['ABCDE-FGHIJ-KLMNO-PQRST'] }), {
    description: 'Shown once: each replaces a second factor once.',
    examples: [['ABCDE-FGHIJ-KLMNO-PQRST']],
  }),
})
/** What an action did, would do, or waits for. */
export const ActionResult = Type.Object({
  state: Type.String({
    enum: ['preview', 'done', 'asked'],
    description: '`preview`: nothing was changed. `asked`: waits for a second person.',
    examples: ['done'],
  }),
  requestId: textOrNull('Of an action that waits for a second person.', null),
  result: openRecord('What the action answers, or would answer.', {}),
  acts: Type.Array(openRecord('A row of the audit log, with the state before and after.', {}), {
    description: 'What is, or would be, written to the audit log.',
    examples: [[]],
  }),
  shown: openRecord('Secrets that are shown once, to you alone.', {}),
})

export type AdminActionResult = Static<typeof ActionResult>

type Made = Readonly<{ description: string; schema: TSchema }>
const post = (
  path: string,
  summary: string,
  description: string,
  body: TSchema,
  made: Made,
  role: AdminRoute['role'],
): AdminRoute => ({
  method: 'POST',
  path: `/admin/v1/${path}`,
  tag: 'Session',
  summary,
  description,
  role,
  body,
  success: { status: 201, ...made },
})
const session: Made = { description: 'The session.', schema: Session }
const done: Made = { description: 'Done.', schema: Done }
const options: Made = { description: 'Options.', schema: Options }
const response = openRecord('What the browser’s WebAuthn call returned.', {})

export const adminSessionRoutes = {
  logIn: post(
    'login',
    'Log in',
    'Password and second factor. Every failure has the same answer. A cookie session also sets a cookie of the browser, by which failures of strangers do not delay its later logins. 503: too many logins are being checked, and this one was not counted.',
    closed({ login, password, code, kind }),
    session,
    'open',
  ),
  askPasskeyLogin: post(
    'login/passkey-options',
    'Options for a login by passkey',
    'The passkey names its operator.',
    closed({}),
    options,
    'open',
  ),
  logInByPasskey: post(
    'login/passkey',
    'Log in by passkey',
    'The authenticator must verify the user.',
    closed({ challengeId, response, kind }),
    session,
    'open',
  ),
  readInvitation: post(
    'invitation',
    'Read an invitation',
    'Names the operator, and the secret for the authenticator app.',
    closed({ token: invitationToken }),
    { description: 'The invitation.', schema: Invitation },
    'open',
  ),
  acceptInvitation: post(
    'invitation/accept',
    'Accept an invitation',
    'Sets the password; `code` shows that the authenticator app has the secret.',
    closed({
      token: invitationToken,
      password,
      code: text('Six digits of the authenticator app.', '123456', 10),
    }),
    { description: 'The operator.', schema: Accepted },
    'open',
  ),
  readSession: {
    method: 'GET',
    path: '/admin/v1/session',
    tag: 'Session',
    summary: 'This session',
    description: 'Who you are, and the CSRF token.',
    role: 'viewer',
    success: { status: 200, ...session },
  },
  confirmSession: post(
    'session/confirm',
    'Give a second factor again',
    'Actions that move money need one of the last five minutes. `password` takes its place for an operator without a second factor, which the sandbox permits.',
    closed({ code, password: Type.Optional(password) }),
    session,
    'viewer',
  ),
  logOut: post('session/end', 'Log out', 'Ends this session.', closed({}), done, 'viewer'),
  endSession: post(
    'sessions/end',
    'End a session',
    'One of your own; as an admin, any. The audit log has it.',
    closed({
      id: text('Id of the session.', '0190a5c4-7d1e-7c3a-9b55-2f6d1c0e8a11', 64),
      reason: Type.Optional(text('Why; required for a session of another operator.', 'her laptop was stolen', 500)),
    }),
    done,
    'viewer',
  ),
  changePassword: post(
    'session/password',
    'Change your password',
    'Ends your other sessions. Needs a second factor of the last five minutes.',
    closed({ password, newPassword: password }),
    done,
    'viewer',
  ),
  renewRecoveryCodes: post(
    'session/recovery-codes',
    'Make new recovery codes',
    'Yours of before are not accepted any more. Needs a second factor of the last five minutes.',
    closed({}),
    { description: 'The operator.', schema: Accepted },
    'viewer',
  ),
  askPasskey: post(
    'passkeys/options',
    'Options for a new passkey',
    'Needs a second factor of the last five minutes.',
    closed({}),
    options,
    'viewer',
  ),
  addPasskey: post(
    'passkeys/add',
    'Add a passkey',
    'The authenticator must verify the user.',
    closed({ challengeId, response, name: text('Name of the passkey.', 'laptop', 64) }),
    done,
    'viewer',
  ),
  removePasskey: post(
    'passkeys/remove',
    'Remove a passkey',
    'One of your own, except your only second factor. Needs a second factor of the last five minutes. Sessions that it began stay open.',
    closed({ id: text('Id of the passkey.', 'q3Jt0aXkR1c', 2_000) }),
    done,
    'viewer',
  ),
  askPasskeyConfirmation: post(
    'session/passkey-options',
    'Options for a confirmation by passkey',
    'As `session/confirm`, by a passkey.',
    closed({}),
    options,
    'viewer',
  ),
  confirmByPasskey: post(
    'session/passkey',
    'Confirm by passkey',
    'As `session/confirm`.',
    closed({ challengeId, response }),
    session,
    'viewer',
  ),
  approveRequest: post(
    'requests/approve',
    'Approve an action',
    'Carries the action out, once, on the state about which it was asked: `REQUEST_OUTDATED` where that has changed. Not the operator who asked. Needs a second factor of the last five minutes.',
    closed({
      id: text('Id of the request.', '0190a5c4-7d1e-7c3a-9b55-2f6d1c0e8a11', 64),
      preview: Type.Optional(Type.Boolean({ description: 'Only show what it would do.', examples: [true] })),
    }),
    { description: 'What it did.', schema: ActionResult },
    'treasurer',
  ),
  rejectRequest: post(
    'requests/reject',
    'Reject an action',
    'By a second person, or withdrawn by the operator who asked.',
    closed({
      id: text('Id of the request.', '0190a5c4-7d1e-7c3a-9b55-2f6d1c0e8a11', 64),
      reason: text('Why.', 'wrong address', 500),
    }),
    done,
    'support',
  ),
} as const satisfies Readonly<Record<string, AdminRoute>>

const reason = text('Why; stored in the audit log with your login.', 'the customer sent a passport', 500)
const preview = Type.Optional(
  Type.Boolean({ description: 'Show what it would do, and change nothing.', examples: [false] }),
)

export const actionBody = ({ arguments: { properties } }: AdminAction) => closed({ ...properties, reason, preview })

function toActionRoute(action: AdminAction): AdminRoute {
  const { path, summary, description, role } = action
  return {
    method: 'POST',
    path,
    tag: 'Actions',
    summary,
    description,
    role,
    body: actionBody(action),
    success: { status: 201, description: 'What it did, would do, or waits for.', schema: ActionResult },
  }
}

function toReadRoute({ path, summary, description, role, query, row, isList }: AdminRead): AdminRoute {
  const page = Type.Object({
    data: Type.Array(row, { description: 'Rows.' }),
    next: textOrNull('`cursor` of the next page; null = this is the last.', null),
  })
  return {
    method: 'GET',
    path,
    tag: 'Reads',
    summary,
    description,
    role,
    query,
    success: { status: 200, description: summary, schema: isList ? page : row },
  }
}

const mapRoutes = <Value>(table: Readonly<Record<string, Value>>, toRoute: (value: Value) => AdminRoute) =>
  Object.fromEntries(Object.entries(table).map(([name, value]) => [name, toRoute(value)]))

export const adminActionRoutes: Readonly<Record<string, AdminRoute>> = mapRoutes<AdminAction>(
  adminActions,
  toActionRoute,
)
export const adminReadRoutes: Readonly<Record<string, AdminRoute>> = mapRoutes<AdminRead>(adminReads, toReadRoute)

/** Every operation by its id in the OpenAPI document. */
export const adminRoutes: Readonly<Record<string, AdminRoute>> = {
  ...adminSessionRoutes,
  ...adminReadRoutes,
  ...adminActionRoutes,
}
