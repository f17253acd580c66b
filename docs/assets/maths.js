// Sets the mathematics that pymdownx.arithmatex has marked: \( ... \) in lines, \[ ... \] on lines of their own.
document.addEventListener("DOMContentLoaded", () => {
  for (const element of document.querySelectorAll(".arithmatex")) {
    const source = element.textContent.trim()
    katex.render(source.slice(2, -2), element, { displayMode: source.startsWith("\\["), throwOnError: false })
  }
})
