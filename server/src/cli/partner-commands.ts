import type { Command } from 'commander'
import type { Database } from '../adapters/postgres/core/database.ts'
import { createPartnerStore, keyRow, partnerRow } from '../adapters/postgres/core/partners.ts'
import { createFeeAccounts } from '../adapters/postgres/swap/fee-accounts.ts'
import { canonicalNetwork } from '../core/domain/catalogue.ts'
import { type Scope, scopes } from '../core/domain/partner.ts'
import type { PartnerStore } from '../core/ports/store/partners.ts'
import { makeApiKey } from '../core/services/partner-keys.ts'
import { toBlock } from '../lib/ip-address.ts'
import { swapNetworks } from '../swap/domain/swap.ts'
import { checkAddress, checkDestination } from './addresses.ts'
import { plainWord, reasoned, recorded, type WithReason } from './audit-note.ts'
import { addBalanceCommands } from './balance-commands.ts'
import { withDatabase } from './database.ts'
import { addFeeCommands, addFoundFeeCommands } from './fee-commands.ts'
import { fail, integer, integerBetween, print } from './print.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u
/** As the table has it: ten percent. */
const bps = integerBetween(0, 1_000)
const count = integerBetween(1, 999_999_999)
const days = integerBetween(1, 3_650)
const lifetimeText = 'after which the secret ends by itself; without it never'
const feeText = 'basis points of the amount out that are taken for the partner'
const openText = 'exchanges open at once'
const rateText = 'weighted requests per minute'
const strictText = 'refuse unknown keys of bodies and queries'

/** What is not given is as the settings say. */
type NewPartnerOptions = Readonly<{ feeBps?: number; openExchangesMax?: number; rateLimit?: number; strict: boolean }> &
  WithReason

/** `swapyard partners …`: who may call, and with which keys. A secret is shown once. */
export function addPartnerCommands(program: Command): void {
  const partners = program.command('partners').description('partners and their API keys')
  addAdding(partners)
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
    reasoned(partners.command(`${verb} <name>`))
      .description(verb === 'suspend' ? 'refuses everything but status reads' : 'ends a suspension')
      .action((name: string, given: WithReason) =>
        withDatabase(async (database) => {
          await changing(database, 'partner', name, verb, given, async (store) => {
            if (!(await store.setSuspended(name, verb === 'suspend'))) fail(`there is no partner ${name}`)
          })
          print({ name, suspended: verb === 'suspend' })
        }),
      )
  }
  reasoned(partners.command('recipient <name> <currency> <address>'))
    .description('where proceeds go when a create names no address; currency as ticker@network')
    .option('--memo <memo>', 'memo of the address')
    .action((name: string, currency: string, address: string, { memo, ...given }: { memo?: string } & WithReason) =>
      withDatabase(async (database, config) => {
        const checked = await checkDestination(config, database, currency, address, memo)
        await changing(database, 'partner', name, 'recipient', given, async (store) => {
          if (!(await store.setRecipient(name, checked.assetId, checked.address, checked.memo)))
            fail(`there is no partner ${name}`)
        })
        print({ name, currency: checked.assetId, address: checked.address, memo: checked.memo })
      }),
    )
  addSetting(partners)
  addFeeAddress(partners)
  addBalanceCommands(partners, program)
  addFeeCommands(partners)
  addFoundFeeCommands(partners)
  addKeyCommands(partners)
}

function addAdding(partners: Command): void {
  reasoned(partners.command('add <name>'))
    .description('adds a partner; what is not given is as in the settings')
    .option('--fee-bps <bps>', feeText, bps)
    .option('--open-exchanges-max <count>', openText, count)
    .option('--rate-limit <units>', rateText, count)
    .option('--strict', strictText, false)
    .action((name: string, { feeBps, openExchangesMax, rateLimit, strict, reason = '-' }: NewPartnerOptions) =>
      withDatabase(async (database, { partners: usual }) => {
        if (!NAME.test(name)) fail('a name has 1 to 64 letters, digits, spaces, dots, dashes or underscores')
        const row = {
          name,
          feeBps: feeBps ?? usual.feeBps,
          openExchangesMax: openExchangesMax ?? usual.openExchangesMax,
          rateLimitPerMinute: rateLimit ?? usual.rateLimitPerMinute,
          strict,
        }
        const id = await changing(
          database,
          'partner',
          name,
          'add',
          { reason },
          async (store) => (await store.add(row)) ?? fail(`there is a partner ${name} already`),
        )
        // A name may have spaces, and has nothing else that a shell reads.
        print({ id, name, next: `swapyard partners keys add ${name.includes(' ') ? `'${name}'` : name}` })
      }),
    )
}

function addFeeAddress(partners: Command): void {
  reasoned(partners.command('fee-address <name> <network> <address>'))
    .description(
      'where the partner takes its referrer fees of swaps on a network; `none` = the operator takes and owes them',
    )
    .action((name: string, ticker: string, address: string, given: WithReason) =>
      withDatabase(async (database, config) => {
        const network = canonicalNetwork(ticker)
        if (!swapNetworks.some((known) => known === network)) fail(`there are no swaps on ${ticker}`)
        const parsed = address === 'none' ? null : (await checkAddress(config, database, network, address)).parsed
        await changing(database, 'partner', name, 'fee-address', given, async (_store, inside) => {
          if (!(await createFeeAccounts(inside).setAddress(name, network, parsed)))
            fail(`there is no partner ${name}${parsed === null ? ' with a fee address there' : ''}`)
        })
        print({ name, network, feeAddress: parsed })
      }),
    )
}

/** Changes what is given, and nothing else. */
function addSetting(partners: Command): void {
  reasoned(partners.command('set <name>'))
    .description('changes fee, limits or strictness of a partner; open exchanges keep the fee that they have')
    .option('--fee-bps <bps>', feeText, bps)
    .option('--open-exchanges-max <count>', openText, count)
    .option('--rate-limit <units>', rateText, count)
    .option('--strict', strictText)
    .option('--no-strict', 'ignore unknown keys of bodies and queries')
    .action((name: string, { rateLimit, reason = '-', ...given }: Partial<NewPartnerOptions>) =>
      withDatabase(async (database) => {
        const change = { ...given, ...(rateLimit === undefined ? {} : { rateLimitPerMinute: rateLimit }) }
        if (Object.keys(change).length === 0) fail('nothing to change: name an option')
        await changing(database, 'partner', name, 'set', { reason }, async (store) => {
          if (!(await store.set(name, change))) fail(`there is no partner ${name}`)
        })
        print({ name, ...change })
      }),
    )
}

function addKeySetting(keys: Command): void {
  reasoned(keys.command('set <keyId>'))
    .description('changes what a key may do, and from where; its secret stays')
    .option('--scopes <list>', `comma list of ${scopes.join(', ')}`)
    .option('--ip <cidr...>', 'the only addresses that may use it, as CIDR blocks')
    .option('--any-ip', 'every address may use it')
    .action(
      (
        keyId: string,
        {
          scopes: list,
          ip,
          anyIp,
          reason = '-',
        }: { scopes?: string; ip?: string[]; anyIp?: true } & Partial<WithReason>,
      ) =>
        withDatabase(async (database) => {
          if (ip && anyIp) fail('--ip and --any-ip exclude each other')
          const blocks = anyIp ? [] : ip && toBlocks(ip)
          const change = {
            ...(list === undefined ? {} : { scopes: toScopes(list) }),
            ...(blocks === undefined ? {} : { ipAllowList: blocks }),
          }
          if (Object.keys(change).length === 0) fail('nothing to change: name --scopes, --ip or --any-ip')
          await changing(database, 'key', keyId, 'set', { reason }, async (store) => {
            if (!(await store.keys.set(keyId, change))) fail(`there is no live key ${keyId}`)
          })
          print({ keyId, ...change })
        }),
    )
}

function addKeyCommands(partners: Command): void {
  const keys = partners.command('keys').description('API keys of a partner')
  reasoned(keys.command('add <name>'))
    .description('makes a key; it is shown once')
    .option('--scopes <list>', `comma list of ${scopes.join(', ')}`, scopes.join(','))
    .option('--ip <cidr...>', 'addresses that may use it, as CIDR blocks; none = all')
    .option('--test', 'a key of form sy_test_…', false)
    .option('--lifetime-days <days>', lifetimeText, days)
    .action((name: string, { scopes: list, ip = [], test, lifetimeDays, reason = '-' }) =>
      withDatabase(async (database, config) => {
        const { keyId, text, hmac } = makeApiKey(
          test || config.environment === 'sandbox' ? 'test' : 'live',
          Buffer.from(config.pepper),
        )
        const allowed = { scopes: toScopes(list), ipAllowList: toBlocks(ip) }
        const key = { keyId, hmac, ...allowed, createdBy: 'cli', ...toLifetime(lifetimeDays) }
        await changing(database, 'key', keyId, 'add', { reason }, async (store) => {
          if (!(await store.keys.add(name, key))) fail(`there is no partner ${name}`)
        })
        print({ keyId, key: text, note: 'shown once: keep it now' })
      }),
    )
  reasoned(keys.command('rotate <keyId>'))
    .description('makes a new secret for a key; the old one ends after the overlap')
    .option('--overlap-hours <hours>', 'how long both are good', integer, 24)
    .option('--lifetime-days <days>', lifetimeText, days)
    .action((keyId: string, { overlapHours, lifetimeDays, reason = '-' }) =>
      withDatabase(async (database, config) => {
        const {
          keyId: _,
          text,
          hmac,
        } = makeApiKey(config.environment === 'sandbox' ? 'test' : 'live', Buffer.from(config.pepper), keyId)
        await changing(database, 'key', keyId, 'rotate', { reason }, async (store) => {
          const { lifetimeMs } = toLifetime(lifetimeDays)
          if (!(await store.keys.rotate(keyId, hmac, overlapHours * HOUR_MS, lifetimeMs)))
            fail(`there is no live key ${keyId}`)
        })
        print({ keyId, key: text, oldEndsInHours: overlapHours, note: 'shown once: keep it now' })
      }),
    )
  addKeySetting(keys)
  reasoned(keys.command('revoke <keyId>'))
    .description('ends a key at once, on every process')
    .action((keyId: string, given: WithReason) =>
      withDatabase(async (database) => {
        await changing(database, 'key', keyId, 'revoke', given, async (store) => {
          if (!(await store.keys.revoke(keyId))) fail(`there is no live key ${keyId}`)
        })
        print({ keyId, revoked: true })
      }),
    )
}

/** Changes a partner or a key, and writes down who did, and what it was before. */
function changing<T>(
  database: Database,
  kind: 'partner' | 'key',
  subject: string,
  act: string,
  given: WithReason,
  change: (store: PartnerStore, inside: Database) => Promise<T>,
): Promise<T> {
  const look = kind === 'partner' ? partnerRow : keyRow
  return recorded(database, async (inside, record) => {
    const before = await look(inside, subject)
    const done = await change(createPartnerStore(inside), inside)
    await record({ ...plainWord(given), act: `${kind} ${act}`, subject, before, after: await look(inside, subject) })
    return done
  })
}

const toLifetime = (days: number | undefined): { lifetimeMs?: number } =>
  days === undefined ? {} : { lifetimeMs: days * DAY_MS }

function toScopes(list: string): Scope[] {
  const wanted = list.split(',').map((scope) => scope.trim())
  const unknown = wanted.filter((scope) => !scopes.some((known) => known === scope))
  if (unknown.length > 0) fail(`unknown scopes: ${unknown.join(', ')}; known are ${scopes.join(', ')}`)
  return wanted as Scope[]
}

function toBlocks(list: readonly string[]): string[] {
  return list.map((text) => toBlock(text) ?? fail(`${text} is no address and no CIDR block`))
}
