from basket.articles import Article
from basket.till import add_article, total_cents

BREAD = Article("bread", 320)
WATER = Article("water", 90, deposit_cents=25)


def test_a_further_article_goes_into_the_same_basket():
    basket = add_article(BREAD, [])
    add_article(WATER, basket)
    assert [article.name for article in basket] == ["bread", "water"]


def test_the_deposit_is_part_of_the_total_when_asked():
    basket = [BREAD, WATER]
    assert total_cents(basket) == 435
    assert total_cents(basket, with_deposit=False) == 410


def test_every_customer_starts_with_an_empty_basket():
    first = add_article(BREAD)
    second = add_article(WATER)
    assert [article.name for article in second] == ["water"]
    assert first is not second


def test_the_total_counts_only_the_customers_own_articles():
    add_article(BREAD)
    assert total_cents(add_article(BREAD)) == 320
