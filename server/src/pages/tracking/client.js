// Keeps the tracking page current, counts down, and copies. The page is complete without it.

const live = document.getElementById('live')
/** Time between two attempts, in ms, while the stream of events is refused. */
const RECONNECT_MS = 15_000

/** Time left is counted from the load of each region, so the clock of the device does not matter. */
function startClocks(region) {
  for (const clock of region.querySelectorAll('[data-seconds]'))
    clock.dataset.end = String(Date.now() + Number(clock.dataset.seconds) * 1_000)
}

const twoDigits = (value) => String(value).padStart(2, '0')

function formatClock(seconds) {
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60]
  const rest = twoDigits(seconds % 60)
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${twoDigits(minutes)}:${rest}`
}

function tick() {
  for (const clock of document.querySelectorAll('[data-end]'))
    clock.textContent = formatClock(Math.max(0, Math.ceil((Number(clock.dataset.end) - Date.now()) / 1_000)))
}

/** The selection is what a browser without clipboard access leaves to the user. */
async function copy(button) {
  // A second click finds the confirmation in place of the label.
  button.dataset.label ??= button.textContent
  try {
    await navigator.clipboard.writeText(button.dataset.copy)
    button.textContent = button.dataset.copied
    const announcement = document.getElementById('copied')
    announcement.textContent = button.dataset.copied
    setTimeout(() => {
      button.textContent = button.dataset.label
      announcement.textContent = ''
    }, 2_000)
  } catch {
    const text = button.parentElement.querySelector('bdi')
    if (text) getSelection().selectAllChildren(text)
  }
}

function prepare(region) {
  startClocks(region)
  for (const button of region.querySelectorAll('button[data-copy]')) button.hidden = false
}

/** Replaces the regions whose version changed. A form that the user fills in keeps its version, and so its content. */
function update(regions) {
  for (const region of regions) {
    const shown = document.getElementById(region.id)
    if (!shown || shown.dataset.version === region.dataset.version) continue
    const hadFocus = shown.contains(document.activeElement)
    shown.replaceChildren(...region.childNodes)
    shown.dataset.version = region.dataset.version
    if (region.dataset.title) document.title = region.dataset.title
    prepare(shown)
    if (hadFocus) document.getElementById('status').focus()
  }
}

function follow() {
  const stream = new EventSource(live.dataset.events)
  stream.addEventListener('page', (event) => {
    const next = document.createElement('template')
    next.innerHTML = event.data
    update(next.content.children)
  })
  stream.addEventListener('end', () => stream.close())
  stream.addEventListener('error', () => {
    // Refused: the browser does not try again.
    if (stream.readyState === EventSource.CLOSED) setTimeout(reload, RECONNECT_MS)
  })
}

/** Reads the page in place of the stream, which a network address with too many streams does not get. */
async function reload() {
  const next = await readPage().catch(() => null)
  update(next?.children ?? [])
  // The page of a closed exchange names no stream.
  if (next === null || next.dataset.events) follow()
}

/** Null if the server does not show the exchange, as after too many requests. */
async function readPage() {
  const answer = await fetch(location.href)
  if (!answer.ok) return null
  return new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById('live')
}

document.addEventListener('click', (event) => {
  const button = event.target.closest('button[data-copy]')
  if (button) copy(button)
})
prepare(document)
setInterval(tick, 1_000)
if (live?.dataset.events) follow()
