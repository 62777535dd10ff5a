import type { Command } from 'commander'
import type { Database } from '../adapters/postgres/core/database.ts'
import { createPartnerStore, keyRow, partnerRow } from '../adapters/postgres/core/partners.ts'
import { createFeeAccounts } from '../adapters/postgres/swap/fee-accounts.ts'
import type { Config } from '../config/load.ts'
import type { KeyKind } from '../core/domain/api-key.ts'
import { canonicalNetwork } from '../core/domain/catalogue.ts'
import { publishableScopes, type Scope, scopes } from '../core/domain/partner.ts'
import type { PartnerStore } from '../core/ports/store/partners.ts'
import { makeApiKey } from '../core/services/partner-keys.ts'
import { toBlock } from '../lib/ip-address.ts'
import { swapNetworks } from '../swap/domain/swap.ts'
import { checkDestination, checkFeeAddress } from './addresses.ts'
import { type ReasonOption, toAuditNote, withAuditLog, withReason } from './audit-note.ts'
import { addBalanceCommands } from './balance-commands.ts'
import { withDatabase } from './database.ts'
import { addFeeCommands } from './fee-commands.ts'
import { fail, integer, integerBetween, print } from './print.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u
/** At most ten percent, as in the table. */
const bps = integerBetween(0, 1_000)
const count = integerBetween(1, 999_999_999)
const days = integerBetween(1, 3_650)
const lifetimeText = 'the secret expires after so many days; never by default'
const refundToSenderText =
  'send a refund without a refund address to the sender, who may be an exchange’s shared wallet'
const strictText = 'refuse unknown members of bodies and queries'

/** Options that are absent take their value from the settings. */
type NewPartnerOptions = Readonly<{
  feeBps?: number
  openExchangesMax?: number
  rateLimit?: number
  strict: boolean
  refundToSender: boolean
  email?: string
}> &
  ReasonOption

/** `swapyard partners …`: partners and their API keys. A secret is shown once. */
export function addPartnerCommands(program: Command): void {
  const partners = program.command('partners').description('partners and their API keys')
  addPartner(partners)
  partners
    .command('list')
    .description('lists partners, their recipients and their keys')
    .action(() =>
      withDatabase(async (database) => {
        for (const { keys, defaultRecipients, ...partner } of await createPartnerStore(database).list()) {
          const recipients = [...defaultRecipients].map(([currency, recipient]) => ({ currency, ...recipient }))
          print({ ...partner, recipients, keys })
        }
      }),
    )
  for (const verb of ['suspend', 'resume'] as const) {
    withReason(partners.command(`${verb} <name>`))
      .description(verb === 'suspend' ? 'refuses everything but status reads' : 'ends a suspension')
      .action((name: string, options: ReasonOption) =>
        withDatabase(async (database) => {
          await change(database, 'partner', name, verb, options, async (store) => {
            if (!(await store.setSuspended(name, verb === 'suspend'))) fail(`there is no partner ${name}`)
          })
          print({ name, suspended: verb === 'suspend' })
        }),
      )
  }
  withReason(partners.command('recipient <name> <currency> <address>'))
    .description('sets the address for proceeds of exchanges that name none; currency as ticker@network')
    .option('--memo <memo>', 'memo of the address')
    .action((name: string, currency: string, address: string, { memo, ...options }: { memo?: string } & ReasonOption) =>
      withDatabase(async (database, config) => {
        const checked = await checkDestination(config, database, currency, address, memo)
        await change(database, 'partner', name, 'recipient', options, async (store) => {
          if (!(await store.setRecipient(name, checked.assetId, checked.address, checked.memo)))
            fail(`there is no partner ${name}`)
        })
        print({ name, currency: checked.assetId, address: checked.address, memo: checked.memo })
      }),
    )
  addPartnerSet(partners)
  addFeeAddress(partners)
  addBalanceCommands(partners, program)
  addFeeCommands(partners)
  addKeyCommands(partners)
}

const EMAIL = /^[^\s@<>,;"]{1,64}@[^\s@<>,;"]{1,189}$/
const checkEmail = (text: string): string =>
  text === 'none' || EMAIL.test(text) ? text : fail(`${text} is not an e-mail address`)
/** An absent option changes nothing. */
const toEmail = (email: string | undefined): { email?: string | null } =>
  email === undefined ? {} : { email: email === 'none' ? null : email }

const withTerms = (command: Command): Command =>
  withReason(command)
    .option('--fee-bps <bps>', 'partner fee in basis points of the amount out', bps)
    .option('--open-exchanges-max <count>', 'maximum number of open exchanges', count)
    .option('--rate-limit <units>', 'weighted requests per minute', count)
    .option('--email <address>', 'address for e-mails to the partner; `none`: no e-mails', checkEmail)

function addPartner(partners: Command): void {
  withTerms(partners.command('add <name>'))
    .description('adds a partner; absent options take their value from the settings')
    .option('--strict', strictText, false)
    .option('--refund-to-sender', refundToSenderText, false)
    .action((name: string, { feeBps, openExchangesMax, rateLimit, reason, email, ...flags }: NewPartnerOptions) =>
      withDatabase(async (database, { partners: defaults }) => {
        if (!NAME.test(name)) fail('a name has 1 to 64 letters, digits, spaces, dots, dashes or underscores')
        const row = {
          name,
          feeBps: feeBps ?? defaults.feeBps,
          openExchangesMax: openExchangesMax ?? defaults.openExchangesMax,
          rateLimitPerMinute: rateLimit ?? defaults.rateLimitPerMinute,
          ...flags,
          ...toEmail(email),
        }
        const id = await change(
          database,
          'partner',
          name,
          'add',
          { reason },
          async (store) => (await store.add(row)) ?? fail(`partner ${name} already exists`),
        )
        // NAME allows spaces, and no other character that a shell interprets.
        print({ id, name, next: `swapyard partners keys add ${name.includes(' ') ? `'${name}'` : name}` })
      }),
    )
}

function addFeeAddress(partners: Command): void {
  withReason(partners.command('fee-address <name> <network> <address>'))
    .description('sets the address for a partner’s swap fees on a network; `none`: the operator collects and owes them')
    .action((name: string, ticker: string, address: string, options: ReasonOption) =>
      withDatabase(async (database, config) => {
        const network = canonicalNetwork(ticker)
        if (!swapNetworks.some((known) => known === network)) fail(`swaps are not available on ${ticker}`)
        const parsed = address === 'none' ? null : await checkFeeAddress(config, database, network, address)
        await change(database, 'partner', name, 'fee-address', options, async (_store, inside) => {
          if (!(await createFeeAccounts(inside).setAddress(name, network, parsed)))
            fail(`there is no partner ${name}${parsed === null ? ' with a fee address there' : ''}`)
        })
        print({ name, network, feeAddress: parsed })
      }),
    )
}

/** Changes only what the options name. */
function addPartnerSet(partners: Command): void {
  withTerms(partners.command('set <name>'))
    .description('changes fee, limits or strictness of a partner; open exchanges keep their fee')
    .option('--strict', strictText)
    .option('--no-strict', 'ignore unknown members of bodies and queries')
    .option('--refund-to-sender', refundToSenderText)
    .option('--no-refund-to-sender', 'hold a refund without a refund address until one is named')
    .option('--refund-by-link', 'let a payer name a missing refund address on the tracking page, as by default')
    .option('--no-refund-by-link', 'only the partner or the operator names a missing refund address')
    .action(
      (
        name: string,
        { rateLimit, reason, email, ...options }: Partial<NewPartnerOptions & { refundByLink: boolean }>,
      ) =>
        withDatabase(async (database) => {
          const changes = {
            ...options,
            ...toEmail(email),
            ...(rateLimit === undefined ? {} : { rateLimitPerMinute: rateLimit }),
          }
          if (Object.keys(changes).length === 0) fail('nothing to change: name an option')
          await change(database, 'partner', name, 'set', { reason }, async (store) => {
            if (!(await store.set(name, changes))) fail(`there is no partner ${name}`)
          })
          print({ name, ...changes })
        }),
    )
}

function addKeySet(keys: Command): void {
  withReason(keys.command('set <keyId>'))
    .description('changes the scopes and addresses of a key; its secret stays')
    .option('--scopes <list>', `comma list of ${scopes.join(', ')}`)
    .option('--ip <cidr...>', 'only these addresses may use it, as CIDR blocks')
    .option('--any-ip', 'any address may use it')
    .action(
      (
        keyId: string,
        { scopes: list, ip, anyIp, reason }: { scopes?: string; ip?: string[]; anyIp?: true } & Partial<ReasonOption>,
      ) =>
        withDatabase(async (database) => {
          if (ip && anyIp) fail('--ip and --any-ip exclude each other')
          const blocks = anyIp ? [] : ip && toBlocks(ip)
          const changes = {
            ...(list === undefined ? {} : { scopes: toScopes(list) }),
            ...(blocks === undefined ? {} : { ipAllowList: blocks }),
          }
          if (Object.keys(changes).length === 0) fail('nothing to change: name --scopes, --ip or --any-ip')
          await change(database, 'key', keyId, 'set', { reason }, async (store) => {
            if (!(await store.keys.set(keyId, changes))) fail(`there is no active key ${keyId}`)
          })
          print({ keyId, ...changes })
        }),
    )
}

/** Production refuses test keys, and creates none. */
const kindIn = ({ environment }: Pick<Config, 'environment'>): KeyKind => (environment === 'sandbox' ? 'test' : 'live')

function addKeyCommands(partners: Command): void {
  const keys = partners.command('keys').description('API keys of a partner')
  withReason(keys.command('add <name>'))
    .description('creates a key and shows it once')
    .option('--scopes <list>', `comma list of ${scopes.join(', ')}`, scopes.join(','))
    .option('--ip <cidr...>', 'only these addresses may use it, as CIDR blocks; any by default')
    .option('--lifetime-days <days>', lifetimeText, days)
    .option('--publishable', 'a key for pages of browsers: quotes and creates from the origins alone', false)
    .option('--origin <origin...>', 'origins of these pages, such as https://wallet.example')
    .action((name: string, { scopes: list, ip = [], lifetimeDays, publishable, origin = [], reason }) =>
      withDatabase(async (database, config) => {
        if (publishable !== origin.length > 0) fail('--publishable and --origin need each other')
        const prefix = publishable ? 'pk' : 'sy'
        const { keyId, text, hmac } = makeApiKey(kindIn(config), Buffer.from(config.pepper), undefined, prefix)
        const allowed = {
          scopes: publishable ? publishableScopes : toScopes(list),
          ipAllowList: toBlocks(ip),
          ...(publishable ? { origins: toOrigins(origin, config) } : {}),
        }
        const key = { keyId, hmac, ...allowed, createdBy: 'cli', ...toLifetime(lifetimeDays) }
        await change(database, 'key', keyId, 'add', { reason }, async (store) => {
          if (!(await store.keys.add(name, key))) fail(`there is no partner ${name}`)
        })
        print({ keyId, key: text, note: 'shown only once: store it now' })
      }),
    )
  withReason(keys.command('rotate <keyId>'))
    .description('creates a new secret for a key; the old one ends after the overlap')
    .option('--overlap-hours <hours>', 'time for which both secrets are valid', integer, 24)
    .option('--lifetime-days <days>', lifetimeText, days)
    .action((keyId: string, { overlapHours, lifetimeDays, reason }) =>
      withDatabase(async (database, config) => {
        const { keyId: _, text, hmac } = makeApiKey(kindIn(config), Buffer.from(config.pepper), keyId)
        await change(database, 'key', keyId, 'rotate', { reason }, async (store) => {
          const { lifetimeMs } = toLifetime(lifetimeDays)
          if (!(await store.keys.rotate(keyId, hmac, overlapHours * HOUR_MS, lifetimeMs)))
            fail(`there is no active key ${keyId}`)
        })
        print({ keyId, key: text, oldEndsInHours: overlapHours, note: 'shown only once: store it now' })
      }),
    )
  addKeySet(keys)
  withReason(keys.command('revoke <keyId>'))
    .description('revokes a key at once, on every process')
    .action((keyId: string, options: ReasonOption) =>
      withDatabase(async (database) => {
        await change(database, 'key', keyId, 'revoke', options, async (store) => {
          if (!(await store.keys.revoke(keyId))) fail(`there is no active key ${keyId}`)
        })
        print({ keyId, revoked: true })
      }),
    )
}

/** Changes a partner or a key, and records who changed it, its state before and after. */
function change<T>(
  database: Database,
  kind: 'partner' | 'key',
  subject: string,
  act: string,
  options: ReasonOption,
  work: (store: PartnerStore, inside: Database) => Promise<T>,
): Promise<T> {
  const read = kind === 'partner' ? partnerRow : keyRow
  return withAuditLog(database, async (inside, record) => {
    const before = await read(inside, subject)
    const result = await work(createPartnerStore(inside), inside)
    await record({
      ...toAuditNote(options),
      act: `${kind} ${act}`,
      subject,
      before,
      after: await read(inside, subject),
    })
    return result
  })
}

const toLifetime = (days: number | undefined): { lifetimeMs?: number } =>
  days === undefined ? {} : { lifetimeMs: days * DAY_MS }

function toScopes(list: string): Scope[] {
  const names = list.split(',').map((scope) => scope.trim())
  const unknown = names.filter((name) => !scopes.some((scope) => scope === name))
  if (unknown.length > 0) fail(`unknown scopes: ${unknown.join(', ')}; the scopes are ${scopes.join(', ')}`)
  return names.flatMap((name) => scopes.filter((scope) => scope === name))
}

function toBlocks(list: readonly string[]): string[] {
  return list.map((text) => toBlock(text) ?? fail(`${text} is not an IP address or CIDR block`))
}

/** As browsers send them; in production over TLS. */
function toOrigins(list: readonly string[], { environment }: Pick<Config, 'environment'>): string[] {
  return list.map((text) => {
    const url = URL.canParse(text) ? new URL(text) : fail(`${text} is not an origin, such as https://wallet.example`)
    if (url.origin !== text) fail(`${text} is not an origin: write ${url.origin}`)
    if (url.protocol !== 'https:' && environment !== 'sandbox') fail(`${text} must begin with https://`)
    return text
  })
}
