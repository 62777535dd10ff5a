import { renderUnicodeCompact } from 'uqr'
import { numberToAmount } from '../amounts.ts'
import { SwapyardError } from '../errors.ts'
import type { CreatedExchange, ExchangeRecord, PrivateRateQuote, RateQuote } from '../generated/types.ts'
import { isFinalExchange } from '../wait.ts'
import { readChoice, readCurrency, readPositionals, UsageError } from './arguments.ts'
import { type Context, exitCodes, isResultUnknown, timeOfDay } from './context.ts'

const flows = ['standard', 'fixed-rate'] as const
const privateTypes = ['efficient', 'privatePlus'] as const

type Request = Readonly<{
  pair: { fromCurrency: string; fromNetwork: string; toCurrency: string; toNetwork: string }
  amount: string
  flow: (typeof flows)[number]
  privateType: (typeof privateTypes)[number] | undefined
}>

function readRequest({ args }: Context): Request {
  const [fromText = '', toText = '', amount = ''] = readPositionals(args, ['FROM', 'TO', 'AMOUNT'])
  const from = readCurrency(fromText)
  const to = readCurrency(toText)
  return {
    pair: {
      fromCurrency: from.currency,
      fromNetwork: from.network,
      toCurrency: to.currency,
      toNetwork: to.network,
    },
    amount,
    flow: readChoice('flow', args.values.flow, flows) ?? 'standard',
    privateType: readChoice('private-type', args.values['private-type'], privateTypes),
  }
}

const requestQuote = ({ swapyard }: Context, { pair, amount, flow, privateType }: Request) =>
  privateType === undefined
    ? swapyard.quoteRate({ ...pair, amount, flow })
    : swapyard.quotePrivateRate({ ...pair, amount, privateType })

export async function quote(context: Context): Promise<number> {
  const answer = await requestQuote(context, readRequest(context))
  context.result(answer, describeQuote(answer))
  return exitCodes.done
}

function describeQuote(answer: RateQuote | PrivateRateQuote): string[] {
  const { fromCurrency, fromNetwork, toCurrency, toNetwork, min, max, fees } = answer
  const lines = [
    `${numberToAmount(answer.fromAmount)} ${fromCurrency}@${fromNetwork} pays ${numberToAmount(answer.toAmount)} ${toCurrency}@${toNetwork}`,
    `minimum ${numberToAmount(min)}, maximum ${max === null ? 'unlimited' : numberToAmount(max)} ${fromCurrency}`,
    `fees in ${toCurrency}: service ${fees.service}, partner ${fees.partner}, network ${fees.network}`,
  ]
  if ('intermediary' in answer)
    lines.push(
      `through ${answer.intermediary.currency}@${answer.intermediary.network}, about ${answer.expectedSeconds} s`,
    )
  else if (answer.rateId !== null) lines.push(`valid until ${answer.validUntil}`)
  return lines
}

export async function exchange(context: Context): Promise<number> {
  const { args, result, swapyard } = context
  const request = readRequest(context)
  if (args.values.address === undefined) throw new UsageError('exchange needs --address')
  const created = await create(context, request)
  describeDeposit(context, created)
  if (args.values['no-wait']) {
    result(created, [`${created.id} ${created.request.depositAddress}`])
    return exitCodes.done
  }
  try {
    return await track(context, created.id, swapyard)
  } catch (error) {
    context.progress(`exchange ${created.id} was created: continue with swapyard-partner status ${created.id} --wait`)
    throw error
  }
}

async function create(context: Context, request: Request): Promise<CreatedExchange> {
  const { swapyard, args } = context
  const { values } = args
  const { pair, amount, flow, privateType } = request
  const body = {
    ...pair,
    fromAmount: amount,
    address: values.address ?? null,
    memo: values.memo ?? null,
    refundAddress: values['refund-address'] ?? null,
    refundMemo: values['refund-memo'] ?? null,
  }
  const options = { idempotencyKey: values['idempotency-key'] }
  if (privateType !== undefined)
    return withHint(context, '', swapyard.createPrivateExchange({ ...body, privateType }, options))
  if (flow === 'standard') return withHint(context, '', swapyard.createExchange({ ...body, flow }, options))
  const rateId = values['rate-id'] ?? (await swapyard.quoteRate({ ...pair, amount, flow })).rateId
  context.progress(`rate id ${rateId}`)
  return withHint(context, ` --rate-id ${rateId}`, swapyard.createExchange({ ...body, flow, rateId }, options))
}

/** Says how to repeat a create whose result is unknown. `terms`: the options that the first run chose. */
async function withHint<Created>({ progress }: Context, terms: string, created: Promise<Created>): Promise<Created> {
  try {
    return await created
  } catch (error) {
    if (error instanceof SwapyardError && isResultUnknown(error))
      progress(`the result is unknown: repeat the command with --idempotency-key ${error.idempotencyKey}${terms}`)
    throw error
  }
}

function describeDeposit({ progress }: Context, { id, request, expiresAt, fixedUntil }: CreatedExchange): void {
  progress(`exchange ${id}`)
  progress(
    `send ${request.amountFromRequested} ${request.fromCurrency} on ${request.fromNetwork} before ${expiresAt} to`,
  )
  progress(request.depositAddress)
  if (request.depositMemo !== undefined)
    progress(`with the memo ${request.depositMemo}: without it, it is not credited`)
  if (fixedUntil !== null) progress(`the rate is fixed for a payment that is seen before ${fixedUntil}`)
  progress(renderUnicodeCompact(request.depositAddress))
}

export async function status(context: Context): Promise<number> {
  const { args, result, swapyard } = context
  const [id = ''] = readPositionals(args, ['ID'])
  if (args.values.wait) return track(context, id, swapyard)
  const answer = await swapyard.getExchangeStatus({ id })
  result(answer.exchange, describeExchange(answer.exchange))
  return codeOf(answer.exchange)
}

async function track(context: Context, id: string, swapyard: Context['swapyard']): Promise<number> {
  const final = await swapyard.waitForExchange(
    { id },
    {
      timeoutMs: context.timeoutMs,
      onChange: (record) => context.progress(`${timeOfDay()} ${describeProgress(record)}`),
      onError: ({ message }) => context.progress(`${timeOfDay()} ${message}; trying again`),
    },
  )
  context.result(final, describeExchange(final))
  return codeOf(final)
}

const codeOf = (record: ExchangeRecord) =>
  isFinalExchange(record) && record.status !== 'finished' ? exitCodes.failed : exitCodes.done

function describeProgress({ status, statusReason, confirmationsSeen, confirmationsRequired }: ExchangeRecord): string {
  const reason = statusReason === null ? '' : ` (${statusReason})`
  const confirmations =
    status === 'confirming' && confirmationsRequired !== null ? ` ${confirmationsSeen}/${confirmationsRequired}` : ''
  return status + reason + confirmations
}

function describeExchange(record: ExchangeRecord): string[] {
  const { request, exchanges } = record
  return [
    `${record.id} ${describeProgress(record)}`,
    ...exchanges.map(({ status, amountFromReceived, amountToReceived, payoutHash, refund }) => {
      if (refund !== null)
        return `${status}: ${refund.amount} ${refund.currency} to ${refund.address}, ${refund.hash ?? 'not signed'}`
      const paid = amountToReceived === null ? '' : `, ${amountToReceived} paid, ${payoutHash ?? 'not signed'}`
      return `${status}: ${amountFromReceived ?? 'nothing'} received${paid}`
    }),
    `${request.amountFromRequested} ${request.fromCurrency}@${request.fromNetwork} to ${request.amountToRequested} ${request.toCurrency}@${request.toNetwork} for ${request.recipientAddress || 'the balance'}`,
  ]
}
