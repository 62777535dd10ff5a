import { type AdminActionName, adminActions } from '@swapyard/schema'
import type { Browser, Locator, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../../support/describe-with.ts'
import { partOf } from '../../support/part.ts'
import { PATIENCE, PATIENCE_MS } from '../../support/patience.ts'
import { findViolations } from '../axe.ts'
import { openPage, startBrowser } from '../browser.ts'
import { createKeyboard } from '../keyboard.ts'
import { KEY_ID } from './rows.ts'
import { type ConsoleServer, logIn, pagePaths, serveConsole, waitForPage, XSS } from './serve.ts'

const [wide, narrow] = [
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
]
const acts = Object.keys(adminActions) as AdminActionName[]
/** Whose dialogs axe examines. */
const examined = new Set(partOf(acts, 2))

const BTC_ADDRESS = 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3'

/** Arguments in place of the examples, which name what this database does not have. An empty one is not given. */
const others: Readonly<Partial<Record<AdminActionName, Readonly<Record<string, string>>>>> = {
  'exchanges-set-refund': { address: BTC_ADDRESS, memo: '' },
  'unclaimed-pay-out': { address: BTC_ADDRESS, memo: '' },
  'treasury-withdraw': { amount: '0.1' },
  'treasury-ceiling': { amount: '0.9' },
  'partners-pay-out': { memo: '' },
  'partners-recipient': { memo: '' },
  'partners-fees-search': { network: 'base' },
  'operators-invite': { login: 'fay@example.com' },
}

/** Actions that this server refuses, and why. Their dialog says so; that of all others shows what they will do. */
const refused: Readonly<Partial<Record<AdminActionName, string>>> = {
  'partners-fees-paid': 'swaps are not served on btc',
  'payouts-release-input': 'is not quarantined',
}

/** An action for each form of input: texts and choices, numbers and flags, lists. What is typed, and what is asked for. */
const byKeyboard: readonly (readonly [
  act: AdminActionName,
  path: string,
  typed: Readonly<Record<string, string>>,
  asked: Readonly<Record<string, unknown>>,
])[] = [
  [
    ...(['operators-invite', '/operators'] as const),
    { login: 'gus@example.com', role: 'support' },
    { login: 'gus@example.com', role: 'support' },
  ],
  ['partners-set', '/partners/:id', { feeBps: '25', strict: 'yes' }, { name: XSS, feeBps: 25, strict: true }],
  [
    ...(['keys-add', '/partners/:id'] as const),
    { scopes: 'exchange:read\nexchange:create', lifetimeDays: '90' },
    { name: XSS, scopes: ['exchange:read', 'exchange:create'], lifetimeDays: 90 },
  ],
]

type Member = Readonly<{ type: string; examples?: readonly unknown[] }>

/** The example of an argument as it is typed. Lists have one item a line. */
function exampleOf(act: AdminActionName, name: string): string {
  const { properties } = adminActions[act].arguments as { properties: Readonly<Record<string, Member>> }
  const example = others[act]?.[name] ?? properties[name]?.examples?.[0]
  return Array.isArray(example) ? example.join('\n') : String(example)
}

describeWith('chromium', 'every action of the console', () => {
  let console_: ConsoleServer
  let browser: Browser
  let page: Page
  let problems: string[]
  /** Requests of the page that are not answered yet. */
  const waiting = new Set<Request>()

  beforeAll(async () => {
    console_ = await serveConsole()
    const ada = await console_.server.addOperator('ada@example.com', 'admin')
    await console_.server.addOperator('bob@example.com', 'viewer')
    await console_.server.addOperator('dan@example.com', 'viewer')
    await console_.server.test.database.query(
      "update operators set disabled_at = now() where login = 'dan@example.com'",
    )
    browser = await startBrowser()
    ;({ page, problems } = await openPage(browser, `${console_.origin}/console/`, {
      ...{ viewport: wide, colorScheme: 'light', reducedMotion: 'reduce' },
    }))
    page.setDefaultTimeout(PATIENCE_MS)
    page.on('request', (request) => request.resourceType() === 'fetch' && waiting.add(request))
    page.on('requestfinished', (request) => waiting.delete(request))
    page.on('requestfailed', (request) => waiting.delete(request))
    await logIn(page, ada, ada.code())
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  })
  afterAll(async () => {
    await browser?.close()
    await console_?.server.close()
  })

  /** Fills what the page does not give, and presses Preview. */
  async function askForPreview(dialog: Locator, act: AdminActionName): Promise<void> {
    await dialog.getByRole('button', { name: 'Preview' }).waitFor()
    const names = await dialog
      .locator('input[name], select[name], textarea[name]')
      .evaluateAll((inputs) => inputs.map((input) => input.getAttribute('name') ?? ''))
    for (const name of names) {
      const input = dialog.locator(`[name="${name}"]`)
      const text = name === 'reason' ? XSS : exampleOf(act, name)
      if ((await input.evaluate((one) => one.tagName)) === 'SELECT') await input.selectOption(text)
      else if (name in (others[act] ?? {}) || (await input.inputValue()) === '') await input.fill(text)
    }
    await dialog.getByRole('button', { name: 'Preview' }).click()
  }

  /** Of the dialog, in two of the four appearances, which have all colors and all layouts. */
  async function findDialogViolations(): Promise<readonly string[]> {
    const found: string[] = []
    for (const [viewport, colorScheme] of [
      [narrow, 'dark'],
      [wide, 'light'],
    ] as const) {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
      found.push(...(await findViolations(page, null, '[role=dialog]')))
      const width = await page.evaluate<number>('document.documentElement.scrollWidth')
      if (width > viewport.width) found.push(`scrolls: ${width} at ${viewport.width}`)
    }
    return found
  }

  /** The error, or `shown` when the dialog says what the action will do. */
  async function previewAct(act: AdminActionName): Promise<string> {
    await page.locator(`[data-action="${act}"]`).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').waitFor()
    if (examined.has(act)) expect([act, await findDialogViolations()]).toEqual([act, []])
    await askForPreview(dialog, act)
    const forecast = dialog.getByRole('heading', { name: 'What it will do' })
    await forecast.or(dialog.getByRole('alert')).first().waitFor()
    const outcome = (await forecast.count()) > 0 ? 'shown' : await dialog.getByRole('alert').textContent()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    return outcome ?? ''
  }

  test('is on a page, and its dialog shows what it will do or why it is refused, without violations', async () => {
    const outcomes = new Map<AdminActionName, string>()
    for (const path of pagePaths)
      for (const shown of await console_.pathsOf(path)) {
        await page.goto(`${console_.origin}/console${shown}`)
        await waitForPage(page)
        // Which buttons a row has may depend on a second list.
        await expect.poll(() => waiting.size, PATIENCE).toBe(0)
        const buttons = page.locator('[data-action]')
        const found = await buttons.evaluateAll((all) => all.map((button) => button.getAttribute('data-action') ?? ''))
        for (const act of new Set(found as AdminActionName[]))
          if (!outcomes.has(act)) outcomes.set(act, await previewAct(act))
      }
    expect([...outcomes.keys()].toSorted()).toEqual(acts.toSorted())
    const refusals = [...outcomes].filter(([, outcome]) => outcome !== 'shown')
    expect(Object.fromEntries(refusals)).toEqual(
      Object.fromEntries(Object.entries(refused).map(([act, why]) => [act, expect.stringContaining(why)])),
    )
    // A preview changes nothing.
    expect(await console_.server.test.database.query('select 1 from operator_requests')).toEqual([])
    expect(await page.locator('img').count()).toBe(0)
    // Browsers report refusals.
    expect(problems.filter((problem) => !/status of 4\d\d/.test(problem))).toEqual([])
  })

  test.each(byKeyboard)('%s at %s is carried out by the keyboard alone', async (act, path, typed, asked) => {
    const [shown = ''] = await console_.pathsOf(path)
    await console_.server.test.database.query('update operator_sessions set confirmed_at = clock_timestamp()')
    await page.goto(`${console_.origin}/console${shown}`)
    const keyboard = await createKeyboard(page)
    await keyboard.press(page.locator(`[data-action="${act}"]:enabled`), 'Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').waitFor()
    for (const [name, text] of [...Object.entries(typed), ['reason', 'by keyboard']]) {
      await keyboard.tabTo(dialog.locator(`[name="${name}"]`))
      await page.keyboard.type(text ?? '')
    }
    await keyboard.press(dialog.getByRole('button', { name: 'Preview' }), 'Enter')
    await dialog.getByRole('heading', { name: 'What it will do' }).waitFor()
    await keyboard.press(dialog.getByRole('button', { name: 'Ask for approval' }), 'Enter')
    await dialog.getByRole('heading', { name: 'Waits for approval' }).waitFor()
    const rows = await console_.server.test.database.query<{ arguments: object }>(
      'select arguments from operator_requests where action = $1',
      [act],
    )
    expect(rows.map((row) => row.arguments)).toEqual([expect.objectContaining({ ...asked })])
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    // The focus is back where the action began.
    const focused = () => page.evaluate('document.activeElement.getAttribute("data-action")')
    await expect.poll(focused, PATIENCE).toBe(act)
  })

  test('a list of addresses that is cleared is empty, so that the key may be used from any', async () => {
    const [path = ''] = await console_.pathsOf('/partners/:id')
    await page.goto(`${console_.origin}/console${path}`)
    await page
      .getByRole('row', { name: new RegExp(KEY_ID) })
      .getByRole('button', { name: 'Change' })
      .click()
    const dialog = page.getByRole('dialog')
    const addresses = dialog.locator('[name="ipAllowList"]')
    await expect.poll(() => addresses.inputValue(), PATIENCE).toBe('192.0.2.0/24')
    await addresses.fill('')
    await dialog.getByLabel('Reason').fill('the server moves')
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await dialog.getByRole('heading', { name: 'What it will do' }).waitFor()
    expect(await dialog.getByRole('listitem').allTextContents()).toEqual(['Ip allow list: ["192.0.2.0/24"] → []'])
  })
})
