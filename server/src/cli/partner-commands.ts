import type { Command } from 'commander'
import { publishableScopes, scopes } from '../core/domain/partner.ts'
import { act, printRead } from './act.ts'
import { type ReasonOption, withReason } from './audit-note.ts'
import { addBalanceCommands } from './balance-commands.ts'
import { addFeeCommands } from './fee-commands.ts'
import { fail, integer, integerBetween } from './print.ts'

/** At most ten percent, as in the table. */
const bps = integerBetween(0, 1_000)
const count = integerBetween(1, 999_999_999)
const days = integerBetween(1, 3_650)
const lifetimeText = 'the secret expires after so many days; never by default'
const refundToSenderText =
  'send a refund without a refund address to the sender, who may be an exchange’s shared wallet'
const strictText = 'refuse unknown members of bodies and queries'

/** Options that are absent take their value from the settings, or stay as they are. */
type PartnerOptions = ReasonOption &
  Readonly<{
    feeBps?: number
    openExchangesMax?: number
    rateLimit?: number
    strict?: boolean
    refundToSender?: boolean
    refundByLink?: boolean
    email?: string
  }>

/** `swapyard partners …`: partners and their API keys. A secret is shown once. */
export function addPartnerCommands(program: Command): void {
  const partners = program.command('partners').description('partners and their API keys')
  withTerms(partners.command('add <name>'))
    .description('adds a partner; absent options take their value from the settings')
    .option('--strict', strictText)
    .option('--refund-to-sender', refundToSenderText)
    .action((name: string, options: PartnerOptions) => act('partners-add', { name, ...termsOf(options) }, options))
  partners
    .command('list')
    .description('lists partners, their recipients and their keys')
    .action(() => printRead('partners'))
  for (const verb of ['suspend', 'resume'] as const) {
    withReason(partners.command(`${verb} <name>`))
      .description(verb === 'suspend' ? 'refuses everything but status reads' : 'ends a suspension')
      .action((name: string, options: ReasonOption) => act(`partners-${verb}`, { name }, options))
  }
  withReason(partners.command('recipient <name> <currency> <address>'))
    .description('sets the address for proceeds of exchanges that name none; currency as ticker@network')
    .option('--memo <memo>', 'memo of the address')
    .action((name: string, currency: string, address: string, { memo, ...options }: { memo?: string } & ReasonOption) =>
      act('partners-recipient', { name, currency, address, memo }, options),
    )
  withTerms(partners.command('set <name>'))
    .description('changes fee, limits or strictness of a partner; open exchanges keep their fee')
    .option('--strict', strictText)
    .option('--no-strict', 'ignore unknown members of bodies and queries')
    .option('--refund-to-sender', refundToSenderText)
    .option('--no-refund-to-sender', 'hold a refund without a refund address until one is named')
    .option('--refund-by-link', 'let a payer name a missing refund address on the tracking page, as by default')
    .option('--no-refund-by-link', 'only the partner or the operator names a missing refund address')
    .action((name: string, options: PartnerOptions) => act('partners-set', { name, ...termsOf(options) }, options))
  withReason(partners.command('fee-address <name> <network> <address>'))
    .description('sets the address for a partner’s swap fees on a network; `none`: the operator collects and owes them')
    .action((name: string, network: string, address: string, options: ReasonOption) =>
      act('partners-fee-address', { name, network, address }, options),
    )
  withReason(partners.command('monthly-payout <name> <currency> <minimum>'))
    .description('pays a balance of at least the minimum once a month to the partner’s recipient; `none` ends it')
    .option('--convert-others', 'first converts the balances in other currencies into this one')
    .action(
      (
        name: string,
        currency: string,
        minimum: string,
        { convertOthers, ...options }: ReasonOption & Readonly<{ convertOthers?: boolean }>,
      ) =>
        act(
          'partners-monthly-payout',
          { name, currency, minimum, ...(convertOthers === undefined ? {} : { convertOthers }) },
          options,
        ),
    )
  addBalanceCommands(partners, program)
  addFeeCommands(partners)
  addKeyCommands(partners)
}

const withTerms = (command: Command): Command =>
  withReason(command)
    .option('--fee-bps <bps>', 'partner fee in basis points of the amount out', bps)
    .option('--open-exchanges-max <count>', 'maximum number of open exchanges', count)
    .option('--rate-limit <units>', 'weighted requests per minute', count)
    .option('--email <address>', 'address for e-mails to the partner; `none`: no e-mails')

const termsOf = ({ rateLimit: rateLimitPerMinute, reason: _, ...terms }: PartnerOptions) => ({
  ...terms,
  rateLimitPerMinute,
})

type KeyOptions = ReasonOption &
  Readonly<{
    scopes?: string
    ip?: string[]
    anyIp?: true
    lifetimeDays?: number
    publishable?: true
    origin?: string[]
  }>

function addKeyCommands(partners: Command): void {
  const keys = partners.command('keys').description('API keys of a partner')
  withReason(keys.command('add <name>'))
    .description('creates a key and shows it once')
    .option('--scopes <list>', `comma list of ${scopes.join(', ')}; all but fees:manage by default`)
    .option('--ip <cidr...>', 'only these addresses may use it, as CIDR blocks; any by default')
    .option('--lifetime-days <days>', lifetimeText, days)
    .option('--publishable', 'a key for pages of browsers: quotes and creates from the origins alone')
    .option('--origin <origin...>', 'origins of these pages, such as https://wallet.example')
    .action((name: string, options: KeyOptions) => {
      const { lifetimeDays, ip: ipAllowList, publishable, origin: origins } = options
      if ((publishable === undefined) !== (origins === undefined)) fail('--publishable and --origin need each other')
      const list = publishable ? [...publishableScopes] : toList(options.scopes)
      return act('keys-add', { name, scopes: list, ipAllowList, lifetimeDays, origins }, options)
    })
  withReason(keys.command('rotate <keyId>'))
    .description('creates a new secret for a key; the old one ends after the overlap')
    .option('--overlap-hours <hours>', 'time for which both secrets are valid', integer, 24)
    .option('--lifetime-days <days>', lifetimeText, days)
    .action((keyId: string, { overlapHours, lifetimeDays, ...options }: KeyOptions & { overlapHours: number }) =>
      act('keys-rotate', { keyId, overlapHours, lifetimeDays }, options),
    )
  withReason(keys.command('set <keyId>'))
    .description('changes the scopes and addresses of a key; its secret stays')
    .option('--scopes <list>', `comma list of ${scopes.join(', ')}`)
    .option('--ip <cidr...>', 'only these addresses may use it, as CIDR blocks')
    .option('--any-ip', 'any address may use it')
    .action((keyId: string, options: KeyOptions) => {
      const { ip, anyIp } = options
      if (ip && anyIp) fail('--ip and --any-ip exclude each other')
      return act('keys-set', { keyId, scopes: toList(options.scopes), ipAllowList: anyIp ? [] : ip }, options)
    })
  withReason(keys.command('revoke <keyId>'))
    .description('revokes a key at once, on every process')
    .action((keyId: string, options: ReasonOption) => act('keys-revoke', { keyId }, options))
}

const toList = (text: string | undefined): string[] | undefined => text?.split(',').map((one) => one.trim())
