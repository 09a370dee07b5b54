"""Request samples in the programming languages that customers use."""

from tradecounter.docs_pages.samples.languages import curl_sample, javascript_sample, php_sample, python_sample

# For each language: the highlighter's name and the function that generates the sample.
LANGUAGES = {
    "curl": ("bash", curl_sample),
    "Python": ("python", python_sample),
    "JavaScript": ("javascript", javascript_sample),
    "PHP": ("php", php_sample),
}
