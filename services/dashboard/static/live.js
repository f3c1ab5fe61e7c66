// Keeps a page up to date. Everything it puts in comes from our server, escaped there.

/** The first element of a piece of HTML. */
function elementOf(text) {
  const template = document.createElement('template')
  template.innerHTML = text
  return template.content.firstElementChild
}

/** Replaces the element of the same id, where something changed. False: there is none. */
function replaceById(fresh) {
  const old = fresh && document.getElementById(fresh.id)
  if (!old) return false
  if (!old.isEqualNode(fresh)) old.replaceWith(fresh)
  return true
}

const FIRST_WAIT_S = 2
const LONGEST_WAIT_S = 30

function followRun(state) {
  const timeline = document.getElementById('timeline')
  const say = (text) => {
    if (state.textContent !== text) state.textContent = text
  }
  const address = new URL(state.dataset.events, location.href)
  let waitS = FIRST_WAIT_S

  function connect() {
    const source = new EventSource(address)
    source.addEventListener('open', () => {
      waitS = FIRST_WAIT_S
      say('Live.')
    })
    source.addEventListener('error', () => {
      if (source.readyState !== EventSource.CLOSED) return say('Connecting again…')
      // An answer that is no stream, as while Redis is away: the browser gives up, we do not.
      say(`Not live; the next try is in ${waitS} s. Reload the page if this stays so.`)
      setTimeout(connect, waitS * 1000)
      waitS = Math.min(waitS * 2, LONGEST_WAIT_S)
    })
    source.addEventListener('row', ({ data, lastEventId }) => {
      if (lastEventId) address.searchParams.set('after', lastEventId)
      const row = elementOf(data)
      if (!replaceById(row)) timeline.append(row)
    })
    source.addEventListener('piece', ({ data }) => replaceById(elementOf(data)))
    source.addEventListener('end', () => {
      source.close()
      say('The run has ended.')
    })
  }
  connect()
}

/** Lists are read anew every few seconds, while somebody looks and nobody is about to use them. */
function refreshLists(sections) {
  const busy = () =>
    document.hidden || sections.some((section) => section.contains(document.activeElement))
  const ids = sections.map((section) => section.id)
  setInterval(async () => {
    if (busy()) return
    try {
      const response = await fetch(location.href, { signal: AbortSignal.timeout(5000) })
      if (!response.ok || response.redirected || busy()) return
      const page = new DOMParser().parseFromString(await response.text(), 'text/html')
      for (const id of ids) {
        const fresh = page.getElementById(id)
        if (fresh) replaceById(document.adoptNode(fresh))
      }
    } catch {
      // The server is away: what is shown stays, and the next turn may reach it.
    }
  }, 3000)
}

const live = document.getElementById('live-state')
if (live) followRun(live)
const lists = [...document.querySelectorAll('[data-refresh]')]
if (lists.length > 0) refreshLists(lists)
