import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { adminReads, adminSessionRoutes, operatorRoles } from '@swapyard/schema'
import { type Command, Option } from 'commander'
import { act, printOutcome, printRead } from './act.ts'
import { type ReasonOption, withReason, withRequiredReason } from './audit-note.ts'
import { fail, print } from './print.ts'
import { callAdmin, readRemote } from './remote.ts'
import { dropSession, saveSession } from './session-file.ts'
import { adminUrl } from './target.ts'

type Secrets = Readonly<{ passwordFile?: string; code?: string }>

const requireUrl = (): string => adminUrl() ?? fail('name the server: --url https://… or SWAPYARD_ADMIN_URL')

const withSecrets = (command: Command): Command =>
  command
    .option('--password-file <file>', 'file with the password; asked for by default')
    .option('--code <code>', 'code of the authenticator app, or a recovery code; asked for by default')

/** `swapyard login|logout|confirm`, `passkeys …`, `recovery-codes …`, `operators …` and `requests …`. */
export function addIdentityCommands(program: Command): void {
  withSecrets(program.command('login <login>'))
    .description('logs in to the admin API of --url; other commands then act there')
    .action(logIn)
  program
    .command('logout')
    .description('ends the session at --url')
    .action(async () => {
      const url = requireUrl()
      await callAdmin(url, 'POST', adminSessionRoutes.logOut.path, { body: {} })
      dropSession(url)
      print({ url, loggedOut: true })
    })
  withSecrets(program.command('confirm'))
    .description('gives a second factor again, for actions that move money; the password, if you have no second factor')
    .action(confirm)
  addSecondFactorCommands(program)
  addOperatorCommands(program)
  addRequestCommands(program)
}

async function logIn(login: string, { passwordFile, code }: Secrets): Promise<void> {
  const url = requireUrl()
  const password = await givePassword('password: ', passwordFile)
  const given = code ?? (await ask('code: '))
  const body = { login, password, kind: 'bearer', ...(given === '' ? {} : { code: given }) }
  const session = await callAdmin(url, 'POST', adminSessionRoutes.logIn.path, { body, isOpen: true })
  const { token, role, expiresAt } = session as { token: string; role: string; expiresAt: string }
  saveSession(url, { token, login, expiresAt })
  print({ url, login, role, expiresAt })
}

async function confirm({ passwordFile, code }: Secrets): Promise<void> {
  const url = requireUrl()
  const { hasSecondFactor } = await callAdmin(url, 'GET', adminSessionRoutes.readSession.path)
  const needsPassword = passwordFile !== undefined || hasSecondFactor === false
  const body = {
    ...(needsPassword ? { password: await givePassword('password: ', passwordFile) } : {}),
    ...(hasSecondFactor === false ? {} : { code: code ?? (await ask('code: ')) }),
  }
  const { confirmedUntil } = await callAdmin(url, 'POST', adminSessionRoutes.confirmSession.path, { body })
  print({ confirmedUntil })
}

/** Of the operator who is logged in. A passkey is added in the console: a browser must ask its authenticator. */
function addSecondFactorCommands(program: Command): void {
  const passkeys = program.command('passkeys').description('your passkeys at --url; add them in the console')
  passkeys
    .command('list')
    .description('lists your passkeys, the oldest first')
    .action(async () => {
      for (const row of await readRemote(requireUrl(), adminReads.passkeys.path, {})) print(row)
    })
  passkeys
    .command('remove <id>')
    .description(
      'removes one of your passkeys, except your only second factor; needs a confirmation; -- before an id that begins with -',
    )
    .action(async (id: string) => {
      await callAdmin(requireUrl(), 'POST', adminSessionRoutes.removePasskey.path, { body: { id } })
      print({ id, removed: true })
    })
  program
    .command('recovery-codes')
    .description('your recovery codes at --url')
    .command('renew')
    .description('prints new recovery codes once; those of before are not accepted any more; needs a confirmation')
    .action(async () =>
      print(await callAdmin(requireUrl(), 'POST', adminSessionRoutes.renewRecoveryCodes.path, { body: {} })),
    )
}

function addOperatorCommands(program: Command): void {
  const operators = program.command('operators').description('identities of the admin API')
  const role = () =>
    new Option('--role <role>', 'what the operator may do').choices(operatorRoles).makeOptionMandatory()
  operators
    .command('list')
    .description('lists operators')
    .action(() => printRead('operators'))
  withReason(operators.command('add <login>'))
    .description(
      'invites an operator; prints the token of the invitation once, or its first half: who approves gets the second one',
    )
    .addOption(role())
    .action((login: string, options: ReasonOption & { role: (typeof operatorRoles)[number] }) =>
      act('operators-invite', { login, role: options.role }, options),
    )
  withReason(operators.command('set-role <login>'))
    .description('changes the role of an operator')
    .addOption(role())
    .action((login: string, options: ReasonOption & { role: (typeof operatorRoles)[number] }) =>
      act('operators-set-role', { login, role: options.role }, options),
    )
  const others = [
    [
      'reset',
      'ends the sessions, removes password and second factors, and prints the token of a new invitation, as `add` does',
    ],
    ['disable', 'ends the sessions, and refuses logins'],
    ['enable', 'accepts logins again'],
  ] as const
  for (const [verb, description] of others)
    withReason(operators.command(`${verb} <login>`))
      .description(description)
      .action((login: string, options: ReasonOption) => act(`operators-${verb}`, { login }, options))
  withSecrets(operators.command('accept <token...>'))
    .description(
      'accepts an invitation at --url by both halves of its token: shows the secret for the authenticator app, then sets the password',
    )
    .action(acceptInvitation)
}

async function acceptInvitation(halves: readonly string[], { passwordFile, code }: Secrets): Promise<void> {
  const url = requireUrl()
  const token = halves.join('.')
  const invitation = await callAdmin(url, 'POST', adminSessionRoutes.readInvitation.path, {
    body: { token },
    isOpen: true,
  })
  print(invitation)
  if (code === undefined && !process.stdin.isTTY) return
  const password = await givePassword('new password: ', passwordFile)
  const body = { token, password, code: code ?? (await ask('code: ')) }
  print(await callAdmin(url, 'POST', adminSessionRoutes.acceptInvitation.path, { body, isOpen: true }))
}

function addRequestCommands(program: Command): void {
  const requests = program.command('requests').description('actions that wait for a second person')
  requests
    .command('list')
    .description('lists the actions that wait')
    .option('--all', 'also those that were decided', false)
    .action(({ all }: { all: boolean }) => printRead('requests', all ? { limit: '100' } : { state: 'asked' }))
  requests
    .command('approve <id>')
    .description(
      'approves an action of another operator, which is then carried out; prints the second half of a new token',
    )
    .option('--preview', 'shows what it would do, and changes nothing', false)
    .action(async (id: string, { preview }: { preview: boolean }) => {
      const body = { id, preview }
      printOutcome(await callAdmin(requireUrl(), 'POST', adminSessionRoutes.approveRequest.path, { body }))
    })
  withRequiredReason(requests.command('reject <id>'))
    .description('rejects an action of another operator, or withdraws your own')
    .action(async (id: string, { reason }: ReasonOption) => {
      await callAdmin(requireUrl(), 'POST', adminSessionRoutes.rejectRequest.path, { body: { id, reason } })
      print({ id, rejected: true })
    })
}

const givePassword = async (question: string, file: string | undefined): Promise<string> =>
  file === undefined ? ask(question) : readFileSync(file, 'utf8').trim()

/** What is typed is not shown. */
async function ask(question: string): Promise<string> {
  if (!process.stdin.isTTY) fail(`${question.trim()} name it by an option: no terminal is attached`)
  process.stderr.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const prompt = createInterface({ input: process.stdin, output: silent, terminal: true })
  try {
    return (await prompt.question('')).trim()
  } finally {
    prompt.close()
    process.stderr.write('\n')
  }
}
