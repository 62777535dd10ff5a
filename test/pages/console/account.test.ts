import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Operator, rowsOf } from '../../../server/test/admin/admin-server.ts'
import { describeWith } from '../../support/describe-with.ts'
import { PATIENCE, PATIENCE_MS } from '../../support/patience.ts'
import { openPage, startBrowser } from '../browser.ts'
import { addAuthenticator, type ConsoleServer, logIn, serveConsole } from './serve.ts'

describeWith('chromium', "the console, about an operator's own identity", () => {
  let console_: ConsoleServer
  let browser: Browser
  let ada: Operator
  let bob: Operator
  let page: Page

  beforeAll(async () => {
    console_ = await serveConsole()
    ada = await console_.server.addOperator('ada@example.com', 'admin')
    bob = await console_.server.addOperator('bob@example.com', 'viewer')
    browser = await startBrowser()
    ;({ page } = await openPage(browser, `${console_.origin}/console/second-factors`))
    page.setDefaultTimeout(PATIENCE_MS)
    await logIn(page, ada, ada.code())
    await page.getByRole('heading', { level: 1, name: 'Your second factors' }).waitFor()
  })
  afterAll(async () => {
    await browser?.close()
    await console_?.server.close()
  })

  const dialog = (name: string) => page.getByRole('dialog', { name })
  const lastAct = async () => rowsOf(await (await console_.server.logIn(ada)).get('audit?limit=1'))[0]

  test('adds a passkey, lists it, and removes it', async () => {
    await addAuthenticator(page)
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await dialog('Add a passkey').getByLabel('Name of the passkey').fill('laptop')
    await dialog('Add a passkey').getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('table', { name: 'Passkeys' }).getByText('laptop').waitFor()
    await page.getByRole('button', { name: 'Remove' }).click()
    await dialog('Remove').getByRole('button', { name: 'Remove it' }).click()
    await page.getByText('You have no passkey.').waitFor()
    expect(await lastAct()).toMatchObject({ act: 'passkey remove', detail: { name: 'laptop' } })
  })

  test('renews the recovery codes and shows them once', async () => {
    await page.getByRole('button', { name: 'Renew recovery codes' }).click()
    await dialog('Renew recovery codes').getByRole('button', { name: 'Renew', exact: true }).click()
    const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem')
    await codes.first().waitFor()
    const shown = await codes.allTextContents()
    expect(shown).toHaveLength(10)
    await page.getByRole('button', { name: 'Close' }).last().click()
    const other = await openPage(browser, `${console_.origin}/console/`)
    await logIn(other.page, ada, shown[0])
    await other.page.getByRole('button', { name: ada.login }).waitFor()
    await other.page.close()
  })

  test('asks for a reason before it ends a session of another operator', async () => {
    const caller = await console_.server.logIn(bob)
    await page.goto(`${console_.origin}/console/sessions`)
    await page.getByRole('row').filter({ hasText: bob.login }).getByRole('button', { name: 'End' }).click()
    await dialog('End').getByLabel('Reason').fill('his laptop was stolen')
    await dialog('End').getByRole('button', { name: 'End it' }).click()
    await expect.poll(async () => (await caller.get('session')).status, PATIENCE).toBe(401)
    expect(await lastAct()).toMatchObject({ act: 'session end', subject: bob.login, reason: 'his laptop was stolen' })
  })
})
